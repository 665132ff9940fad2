/** Just enough of protocol buffers and OTLP to read what the engine writes. */

export interface Span {
  readonly scope: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string;
  readonly traceState: string;
  readonly name: string;
  readonly kind: number;
  /** Nanoseconds since 1970. */
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly { readonly name: string; readonly attributes: object }[];
  readonly links: readonly { readonly traceId: string; readonly attributes: object }[];
  readonly status: { readonly code: number; readonly message: string };
  readonly flags: number;
}

/** A field's values, by its number. */
type Message = ReadonlyMap<number, readonly (bigint | Buffer)[]>;

/** Decodes an ExportTraceServiceRequest. */
export function decodeSpans(request: Buffer): {
  resource: Readonly<Record<string, unknown>>;
  spans: Span[];
} {
  const [resourceSpans] = messages(read(request), 1);
  const spans = messages(resourceSpans!, 2).flatMap((scopeSpans) => {
    const scope = text(messages(scopeSpans, 1)[0]!, 1);
    return messages(scopeSpans, 2).map((span) => spanOf(span, scope));
  });
  return { resource: attributes(messages(resourceSpans!, 1)[0]!, 1), spans };
}

/** Decodes an ExportMetricsServiceRequest: data points by the names of metrics. */
export function decodeMetrics(
  request: Buffer,
): Record<string, { attributes: object; count: bigint; buckets: bigint[] }[]> {
  const scopes = messages(read(request), 1).flatMap((resource) => messages(resource, 2));
  const metrics = scopes.flatMap((scope) => messages(scope, 2));
  return Object.fromEntries(
    metrics.map((metric) => {
      const [histogram] = messages(metric, 9);
      const points = messages(histogram ?? messages(metric, 7)[0]!, 1);
      return [
        text(metric, 1),
        points.map((point) => ({
          attributes: attributes(point, histogram === undefined ? 7 : 9),
          count: histogram === undefined ? whole(point) : number(point, 4),
          buckets: packed(point, 6, histogram !== undefined),
        })),
      ];
    }),
  );
}

/** The value of a sum: an integer, or a double that is one. */
function whole(point: Message): bigint {
  const [double] = point.get(4) ?? [];
  return double === undefined ? number(point, 6) : BigInt(doubleOf(double as bigint));
}

function doubleOf(bits: bigint): number {
  return new Float64Array(new BigUint64Array([bits]).buffer)[0]!;
}

function packed(message: Message, field: number, isThere: boolean): bigint[] {
  if (!isThere) return [];
  const bytes = message.get(field)![0] as Buffer;
  return Array.from({ length: bytes.length / 8 }, (_, at) => bytes.readBigUInt64LE(at * 8));
}

function spanOf(span: Message, scope: string): Span {
  const [status] = messages(span, 15);
  return {
    scope,
    traceId: hex(span, 1),
    spanId: hex(span, 2),
    traceState: text(span, 3),
    parentId: hex(span, 4),
    name: text(span, 5),
    kind: Number(number(span, 6)),
    start: number(span, 7),
    end: number(span, 8),
    attributes: attributes(span, 9),
    events: messages(span, 11).map((event) => ({
      name: text(event, 2),
      attributes: attributes(event, 3),
    })),
    links: messages(span, 13).map((link) => ({
      traceId: hex(link, 1),
      attributes: attributes(link, 4),
    })),
    status: {
      code: status === undefined ? 0 : Number(number(status, 3)),
      message: status === undefined ? '' : text(status, 2),
    },
    flags: Number(number(span, 16)),
  };
}

function attributes(message: Message, field: number): Record<string, unknown> {
  const pairs = messages(message, field);
  return Object.fromEntries(pairs.map((pair) => [text(pair, 1), value(messages(pair, 2)[0]!)]));
}

function value(any: Message): unknown {
  const [field] = any.keys();
  if (field === 1) return text(any, 1);
  if (field === 2) return number(any, 2) === 1n;
  if (field === 3) return Number(BigInt.asIntN(64, number(any, 3)));
  if (field === 4) return doubleOf(number(any, 4));
  return field === 5 ? messages(messages(any, 5)[0]!, 1).map(value) : undefined;
}

function messages(message: Message, field: number): Message[] {
  return (message.get(field) ?? []).map((bytes) => read(bytes as Buffer));
}

function text(message: Message, field: number): string {
  return (message.get(field)?.[0] ?? '').toString();
}

function hex(message: Message, field: number): string {
  return (message.get(field)?.[0] as Buffer | undefined)?.toString('hex') ?? '';
}

function number(message: Message, field: number): bigint {
  return (message.get(field)?.[0] ?? 0n) as bigint;
}

/** @throws for bytes that are no message */
function read(bytes: Buffer): Message {
  const fields = new Map<number, (bigint | Buffer)[]>();
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
    if (at + length > bytes.length) throw new Error('A field is cut off.');
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const type = tag & 7;
    if (![0, 1, 2, 5].includes(type)) throw new Error(`A field has the type ${type}.`);
    const field = fields.get(tag >>> 3) ?? [];
    fields.set(tag >>> 3, field);
    if (type === 0) field.push(varint());
    else if (type === 1) field.push(take(8).readBigUInt64LE());
    else if (type === 5) field.push(BigInt(take(4).readUInt32LE()));
    else field.push(take(Number(varint())));
  }
  return fields;
}
