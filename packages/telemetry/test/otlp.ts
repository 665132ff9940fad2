// Reads ExportTraceServiceRequest and ExportMetricsServiceRequest, for tests: the fields that they look at. Numbers of fields are
// those of opentelemetry-proto.

export type Value = string | number | boolean | Value[] | undefined | { [key: string]: Value };
export type Values = Record<string, Value>;

export interface FoundSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  kind: number;
  status: number;
  flags: number;
  startedAt: bigint;
  endedAt: bigint;
  scope: string;
  attributes: Values;
  resource: Values;
  events: { name: string; time: bigint; attributes: Values; dropped: number }[];
  links: {
    traceId: string;
    spanId: string;
    state: string;
    attributes: Values;
    dropped: number;
    flags: number;
  }[];
  dropped: number[];
  message: string;
  state: string;
}

export interface FoundMetric {
  name: string;
  unit: string;
  scope: string;
  resource: Values;
  points: { attributes: Values; count: number; sum: number }[];
}

/** The fields of a message: by number, each with its values in order. */
type Message = Map<number, (Buffer | bigint)[]>;

export function spansOf(request: Buffer): FoundSpan[] {
  return nested(parse(request), 1).flatMap((resourceSpans) => {
    const resource = attributes(first(resourceSpans, 1), 1);
    return nested(resourceSpans, 2).flatMap((scopeSpans) => {
      const scope = text(first(scopeSpans, 1), 1);
      return nested(scopeSpans, 2).map((span) => ({
        traceId: hex(span, 1),
        spanId: hex(span, 2),
        parentSpanId: hex(span, 4),
        name: text(span, 5),
        kind: number(span, 6),
        startedAt: wide(span, 7),
        endedAt: wide(span, 8),
        attributes: attributes(span, 9),
        events: nested(span, 11).map((event) => ({
          name: text(event, 2),
          time: wide(event, 1),
          attributes: attributes(event, 3),
          dropped: number(event, 4),
        })),
        links: nested(span, 13).map((link) => ({
          traceId: hex(link, 1),
          spanId: hex(link, 2),
          state: text(link, 3),
          attributes: attributes(link, 4),
          dropped: number(link, 5),
          flags: number(link, 6),
        })),
        dropped: [number(span, 10), number(span, 12), number(span, 14)],
        status: number(first(span, 15), 3),
        message: text(first(span, 15), 2),
        state: text(span, 3),
        flags: number(span, 16),
        scope,
        resource,
      }));
    });
  });
}

export function metricsOf(request: Buffer): FoundMetric[] {
  return nested(parse(request), 1).flatMap((resourceMetrics) => {
    const resource = attributes(first(resourceMetrics, 1), 1);
    return nested(resourceMetrics, 2).flatMap((scopeMetrics) => {
      const scope = text(first(scopeMetrics, 1), 1);
      return nested(scopeMetrics, 2).map((metric) => {
        const isHistogram = metric.has(9);
        const data = first(metric, isHistogram ? 9 : metric.has(7) ? 7 : 5);
        const points = nested(data, 1).map((point) =>
          isHistogram
            ? {
                attributes: attributes(point, 9),
                count: Number(wide(point, 4)),
                sum: double(point, 5),
              }
            : {
                attributes: attributes(point, 7),
                count: 1,
                sum: point.has(6) ? Number(BigInt.asIntN(64, wide(point, 6))) : double(point, 4),
              },
        );
        return { name: text(metric, 1), unit: text(metric, 3), scope, resource, points };
      });
    });
  });
}

function parse(bytes: Buffer): Message {
  const message: Message = new Map();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]!;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    let value: Buffer | bigint;
    if ((tag & 7) === 0) value = varint();
    else if ((tag & 7) === 1) value = bytes.readBigUInt64LE((at += 8) - 8);
    else if ((tag & 7) === 5) value = BigInt(bytes.readUInt32LE((at += 4) - 4));
    else {
      const length = Number(varint());
      value = bytes.subarray(at, (at += length));
    }
    const values = message.get(tag >>> 3) ?? [];
    values.push(value);
    message.set(tag >>> 3, values);
  }
  return message;
}

function nested(message: Message, field: number): Message[] {
  return (message.get(field) ?? []).map((value) => parse(value as Buffer));
}

function first(message: Message, field: number): Message {
  return nested(message, field)[0] ?? new Map();
}

function bytesOf(message: Message, field: number): Buffer {
  return (message.get(field)?.[0] as Buffer | undefined) ?? Buffer.alloc(0);
}

function text(message: Message, field: number): string {
  return bytesOf(message, field).toString();
}

function hex(message: Message, field: number): string {
  return bytesOf(message, field).toString('hex');
}

function wide(message: Message, field: number): bigint {
  return (message.get(field)?.[0] as bigint | undefined) ?? 0n;
}

function number(message: Message, field: number): number {
  return Number(wide(message, field));
}

function double(message: Message, field: number): number {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64LE(wide(message, field));
  return buffer.readDoubleLE();
}

function attributes(message: Message, field: number): Values {
  const pairs = nested(message, field).map((pair) => [text(pair, 1), valueOf(first(pair, 2))]);
  return Object.fromEntries(pairs) as Values;
}

function valueOf(any: Message): Value {
  if (any.has(1)) return text(any, 1);
  if (any.has(2)) return wide(any, 2) === 1n;
  if (any.has(3)) return Number(BigInt.asIntN(64, wide(any, 3)));
  if (any.has(4)) return double(any, 4);
  if (any.has(5)) return nested(first(any, 5), 1).map(valueOf);
  if (any.has(6)) return attributes(first(any, 6), 1);
  if (any.has(7)) return { bytes: hex(any, 7) };
  return undefined;
}
