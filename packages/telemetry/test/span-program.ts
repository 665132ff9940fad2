// Runs the same calls of @opentelemetry/api on this package's tracer and on the SDK's, and describes the spans of both in one form:
// that of OTLP's JSON, with ids by their order and the current time as a word.
import {
  diag,
  DiagLogLevel,
  type DiagLogger,
  type Span,
  type Tracer,
  type TracerProvider as TracerProviderApi,
} from '@opentelemetry/api';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider as SdkTracerProvider,
  type Sampler,
  type SpanLimits,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace';
import { TracerProvider } from '../src/api/tracer-provider.ts';
import { RingWriter } from '../src/native/ring-writer.ts';
import { createRing } from '../src/native/ring.ts';
import { RingReader, type OtlpAttribute, type ReadSpan, type ReadTime } from './ring-records.ts';

/** Calls of the API. Spans that it returns are ended after it. */
export type Program = (
  tracer: Tracer,
  provider: TracerProviderApi,
) => Span | readonly Span[] | void;

export interface ProgramOptions {
  readonly limits?: SpanLimits;
  readonly sampler?: Sampler;
  /** Called once for each of both providers. */
  readonly processors?: () => SpanProcessor[];
}

export interface Outcome {
  readonly spans: readonly unknown[];
  readonly warnings: readonly string[];
}

/** Returns what a program makes of this package, and of the SDK. */
export function outcomes(program: Program, options: ProgramOptions = {}): [Outcome, Outcome] {
  return [ours(program, options), theirs(program, options)];
}

function ours(program: Program, { limits, sampler, processors }: ProgramOptions): Outcome {
  const ring = createRing(65_536);
  const reader = new RingReader(ring);
  const provider = new TracerProvider({
    writer: new RingWriter(ring, () => {}),
    ...(limits && { limits }),
    ...(sampler && { sampling: sampler }),
    ...(processors && { processors: processors() }),
  });
  const warnings = run(program, provider);
  const ids = new Ids();
  return { spans: reader.spans().map((span) => ofRecord(span, ids)), warnings };
}

function theirs(program: Program, { limits, sampler, processors }: ProgramOptions): Outcome {
  const exporter = new InMemorySpanExporter();
  const provider = new SdkTracerProvider({
    spanProcessors: [...(processors?.() ?? []), new SimpleSpanProcessor({ exporter })],
    ...(limits && { spanLimits: limits }),
    ...(sampler && { sampler }),
  });
  const warnings = run(program, provider);
  const ids = new Ids();
  // One by one, for a request is ordered by scopes.
  const spans = exporter.getFinishedSpans().map((span) => {
    const bytes = JsonTraceSerializer.serializeRequest([span]) ?? new Uint8Array();
    return ofRequest(JSON.parse(Buffer.from(bytes).toString()) as OtlpRequest, ids);
  });
  return { spans, warnings };
}

function run(program: Program, provider: TracerProviderApi): string[] {
  const warnings: string[] = [];
  const note = (level: string) => (message: unknown) => {
    warnings.push(`${level}: ${String(message).replaceAll(/\b[\da-f]{16,32}\b/g, 'ID')}`);
  };
  const logger: DiagLogger = {
    error: note('error'),
    warn: note('warn'),
    info: () => {},
    debug: () => {},
    verbose: () => {},
  };
  diag.setLogger(logger, { logLevel: DiagLogLevel.ALL, suppressOverrideMessage: true });
  try {
    const spans = program(provider.getTracer('program', '1.2.3'), provider);
    for (const span of [spans ?? []].flat()) span.end();
  } finally {
    diag.disable();
  }
  return warnings;
}

/** Ids are random: they are described by their order. */
class Ids {
  readonly #known = new Map<string, string>();

  of(id: string | undefined): string {
    if (id === undefined || /^0*$/.test(id)) return '';
    const known =
      this.#known.get(id) ?? `${id.length === 32 ? 'trace' : 'span'} ${this.#known.size}`;
    this.#known.set(id, known);
    return known;
  }
}

interface OtlpEvent {
  readonly timeUnixNano: string | { readonly low: number; readonly high: number };
  readonly name: string;
  readonly attributes: OtlpAttribute[];
  readonly droppedAttributesCount: number;
}

interface OtlpLink {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceState?: string;
  readonly attributes: OtlpAttribute[];
  readonly droppedAttributesCount: number;
  readonly flags: number;
}

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: OtlpEvent['timeUnixNano'];
  readonly endTimeUnixNano: OtlpEvent['timeUnixNano'];
  readonly attributes: OtlpAttribute[];
  readonly droppedAttributesCount: number;
  readonly events: OtlpEvent[];
  readonly droppedEventsCount: number;
  readonly links: OtlpLink[];
  readonly droppedLinksCount: number;
  readonly status: { readonly code: number; readonly message?: string };
  readonly flags: number;
}

interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly {
      readonly scope: { readonly name: string; readonly version?: string };
      readonly schemaUrl?: string;
      readonly spans: readonly OtlpSpan[];
    }[];
  }[];
}

function ofRequest(request: OtlpRequest, ids: Ids): unknown {
  const [scopeSpans] = request.resourceSpans[0]?.scopeSpans ?? [];
  const [span] = scopeSpans?.spans ?? [];
  if (scopeSpans === undefined || span === undefined) return undefined;
  const start = ofNanos(span.startTimeUnixNano);
  return {
    traceId: ids.of(span.traceId),
    spanId: ids.of(span.spanId),
    parentSpanId: ids.of(span.parentSpanId),
    traceState: span.traceState ?? '',
    name: span.name,
    scope: [scopeSpans.scope.name, scopeSpans.scope.version ?? '', scopeSpans.schemaUrl ?? ''],
    kind: span.kind,
    start,
    end:
      span.endTimeUnixNano === span.startTimeUnixNano && start !== 'now'
        ? 'start'
        : ofNanos(span.endTimeUnixNano),
    status: { code: span.status.code, message: span.status.message ?? '' },
    flags: span.flags,
    attributes: byKey(span.attributes),
    events: span.events.map(({ timeUnixNano, name, attributes, droppedAttributesCount }) => ({
      time: ofNanos(timeUnixNano),
      name,
      attributes: byKey(attributes),
      droppedAttributesCount,
    })),
    links: span.links.map(({ traceId, spanId, traceState = '', flags, ...rest }) => ({
      traceId: ids.of(traceId),
      spanId: ids.of(spanId),
      traceState,
      flags,
      attributes: byKey(rest.attributes),
      droppedAttributesCount: rest.droppedAttributesCount,
    })),
    dropped: {
      attributes: span.droppedAttributesCount,
      events: span.droppedEventsCount,
      links: span.droppedLinksCount,
    },
  };
}

function ofRecord(span: ReadSpan, ids: Ids): unknown {
  const start = ofTime(span.start);
  const isInstant = JSON.stringify(span.start) === JSON.stringify(span.end);
  return {
    traceId: ids.of(span.traceId),
    spanId: ids.of(span.spanId),
    parentSpanId: ids.of(span.parentSpanId),
    traceState: span.traceState,
    name: span.name,
    scope: span.scope,
    kind: span.kind,
    start,
    end: isInstant && start !== 'now' ? 'start' : ofTime(span.end),
    status: span.status,
    flags: span.flags,
    attributes: byKey(span.attributes),
    events: span.events.map(({ time, name, attributes, droppedAttributesCount }) => ({
      time: ofTime(time),
      name,
      attributes: byKey(attributes),
      droppedAttributesCount,
    })),
    links: span.links.map(({ traceId, spanId, traceState, flags, ...rest }) => ({
      traceId: ids.of(traceId),
      spanId: ids.of(spanId),
      traceState,
      flags,
      attributes: byKey(rest.attributes),
      droppedAttributesCount: rest.droppedAttributesCount,
    })),
    dropped: span.dropped,
  };
}

/** By key, for an object may have another order; as JSON has it, where NaN is null; and with integers as protobuf has them. */
function byKey(attributes: readonly OtlpAttribute[]): unknown {
  const sorted = attributes.toSorted((one, other) => (one.key < other.key ? -1 : 1));
  const entries = sorted.map(({ key, value }) => {
    const isDouble = Math.abs(Number(value['intValue'])) >= 2 ** 63;
    return [key, isDouble ? { doubleValue: value['intValue'] } : value] as const;
  });
  return JSON.parse(JSON.stringify(Object.fromEntries(entries)));
}

function ofTime({ isEpoch, seconds, nanos }: ReadTime): string {
  if (isEpoch) return ofNanos(String(BigInt(seconds) * 1_000_000_000n + BigInt(nanos)));
  const [now] = process.hrtime();
  return Math.abs(now - seconds) < 3_600 ? 'now' : `${seconds} s of the monotonic clock`;
}

function ofNanos(nanos: OtlpEvent['timeUnixNano']): string {
  const time =
    typeof nanos === 'string'
      ? BigInt(nanos)
      : (BigInt(nanos.high) << 32n) + BigInt(nanos.low >>> 0);
  const apart = Number(time / 1_000_000n) - Date.now();
  return Math.abs(apart) < 3_600_000 ? 'now' : String(time);
}
