// Reads an ExportTraceServiceRequest into the form that OTLP's JSON has.

type Type = 'text' | 'hex' | 'base64' | 'number' | 'integer' | 'flag' | 'double' | 'time' | string;
/** A name, a type or the name of a message, and `true` if the field is repeated. */
type FieldType = readonly [name: string, type: Type, isRepeated?: true];

const messages: Readonly<Record<string, Readonly<Record<number, FieldType>>>> = {
  Request: { 1: ['resourceSpans', 'ResourceSpans', true] },
  ResourceSpans: { 2: ['scopeSpans', 'ScopeSpans', true] },
  ScopeSpans: { 1: ['scope', 'Scope'], 2: ['spans', 'Span', true], 3: ['schemaUrl', 'text'] },
  Scope: { 1: ['name', 'text'], 2: ['version', 'text'] },
  Span: {
    1: ['traceId', 'hex'],
    2: ['spanId', 'hex'],
    3: ['traceState', 'text'],
    4: ['parentSpanId', 'hex'],
    5: ['name', 'text'],
    6: ['kind', 'number'],
    7: ['startTimeUnixNano', 'time'],
    8: ['endTimeUnixNano', 'time'],
    9: ['attributes', 'KeyValue', true],
    10: ['droppedAttributesCount', 'number'],
    11: ['events', 'Event', true],
    12: ['droppedEventsCount', 'number'],
    13: ['links', 'Link', true],
    14: ['droppedLinksCount', 'number'],
    15: ['status', 'Status'],
    16: ['flags', 'number'],
  },
  Event: {
    1: ['timeUnixNano', 'time'],
    2: ['name', 'text'],
    3: ['attributes', 'KeyValue', true],
    4: ['droppedAttributesCount', 'number'],
  },
  Link: {
    1: ['traceId', 'hex'],
    2: ['spanId', 'hex'],
    3: ['traceState', 'text'],
    4: ['attributes', 'KeyValue', true],
    5: ['droppedAttributesCount', 'number'],
    6: ['flags', 'number'],
  },
  Status: { 2: ['message', 'text'], 3: ['code', 'number'] },
  KeyValue: { 1: ['key', 'text'], 2: ['value', 'AnyValue'] },
  AnyValue: {
    1: ['stringValue', 'text'],
    2: ['boolValue', 'flag'],
    3: ['intValue', 'integer'],
    4: ['doubleValue', 'double'],
    5: ['arrayValue', 'ArrayValue'],
    6: ['kvlistValue', 'KeyValueList'],
    7: ['bytesValue', 'base64'],
  },
  ArrayValue: { 1: ['values', 'AnyValue', true] },
  KeyValueList: { 1: ['values', 'KeyValue', true] },
};

/** A missing number is 0, a missing text '', a missing list []; a missing value stays missing. */
export function readRequest(bytes: Uint8Array): unknown {
  return readMessage(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), 'Request');
}

function readMessage(bytes: Buffer, name: string): Record<string, unknown> {
  const types = messages[name] ?? {};
  const message: Record<string, unknown> = {};
  if (name !== 'AnyValue') {
    for (const [field, type, isRepeated] of Object.values(types)) {
      message[field] = isRepeated ? [] : missing(type);
    }
  }
  let at = 0;
  const varint = (): bigint => {
    let result = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at++);
      result |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return result;
    }
  };
  const take = (length: number): Buffer => {
    at += length;
    if (at > bytes.length) throw new Error(`A field of ${name} is cut off.`);
    return bytes.subarray(at - length, at);
  };
  const content = (wireType: number): bigint | Buffer => {
    if (wireType === 0) return varint();
    if (wireType === 1) return take(8).readBigUInt64LE();
    if (wireType === 5) return BigInt(take(4).readUInt32LE());
    return take(Number(varint()));
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const read = content(tag & 7);
    const type = types[tag >>> 3];
    if (type === undefined) continue;
    const [field, kind, isRepeated] = type;
    const value = Buffer.isBuffer(read) ? ofBytes(read, kind) : ofNumber(read, kind);
    if (isRepeated) (message[field] as unknown[]).push(value);
    else message[field] = value;
  }
  return message;
}

function missing(type: Type): unknown {
  if (type === 'number') return 0;
  return type === 'text' || type === 'hex' ? '' : undefined;
}

function ofBytes(bytes: Buffer, type: Type): unknown {
  if (type === 'text') return bytes.toString();
  return type === 'hex' || type === 'base64' ? bytes.toString(type) : readMessage(bytes, type);
}

function ofNumber(number: bigint, type: Type): unknown {
  if (type === 'flag') return number === 1n;
  if (type === 'time') return String(number);
  if (type === 'integer') return Number(BigInt.asIntN(64, number));
  if (type !== 'double') return Number(number);
  const bits = Buffer.alloc(8);
  bits.writeBigUInt64LE(number);
  return bits.readDoubleLE();
}
