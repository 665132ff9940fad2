// Runs the same calls of @opentelemetry/api on this package's tracer and on the SDK's, and describes the spans of both in one form:
// that of OTLP's JSON, with ids by their order and the current time as a word. With the addon, what it sends is described too.
import {
  diag,
  DiagLogLevel,
  type DiagLogger,
  type Span,
  type Tracer,
  type TracerProvider as TracerProviderApi,
} from '@opentelemetry/api';
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider as SdkTracerProvider,
  type Sampler,
  type SpanLimits,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace';
import { TracerProvider } from '../src/api/tracer-provider.ts';
import { loadAddon } from '../native.cjs';
import { RingWriter, createRing } from '../src/native/ring-writer.ts';
import { readRequest } from './otlp-request.ts';
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

/** Returns what a program makes of this package, of the addon if it is built, and of the SDK. */
export function outcomes(program: Program, options: ProgramOptions = {}): Outcome[] {
  const sent = collected === undefined ? [] : [byAddon(program, options, collected)];
  return [ours(program, options), ...sent, theirs(program, options)];
}

/** A collector whose spans are taken after each program. */
const collected = ((): Collected | undefined => {
  try {
    const { Collector } = loadAddon();
    const collector = new Collector({
      resource: [],
      maxBytes: 1 << 28,
      sampler: 'always_on',
      ratio: 1,
      isParentBased: true,
      attributeCountLimit: 128,
      attributeValueLengthLimit: 0xffff_ffff,
      redactedParameters: [],
      boundaries: [1],
      isDelta: false,
    });
    const ring = createRing(1 << 20);
    collector.addSource(undefined, ring);
    return { collector, writer: new RingWriter(ring, () => collector.wake()) };
  } catch {
    return undefined;
  }
})();

export const hasAddon: boolean = collected !== undefined;

interface Collected {
  readonly collector: InstanceType<ReturnType<typeof loadAddon>['Collector']>;
  readonly writer: RingWriter;
}

function ours(program: Program, options: ProgramOptions): Outcome {
  const ring = createRing(65_536);
  const reader = new RingReader(ring);
  const provider = providerOf(new RingWriter(ring, () => {}), options);
  const warnings = run(program, provider);
  const ids = new Ids();
  const spans = reader.spans().toSorted((one, other) => order(one.scope, other.scope));
  return { spans: spans.map((span) => ofRecord(span, ids)), warnings };
}

function byAddon(
  program: Program,
  options: ProgramOptions,
  { collector, writer }: Collected,
): Outcome {
  const warnings = run(program, providerOf(writer, options));
  collector.drain();
  const request = collector.takeSpans(1 << 28, 1 << 20);
  return { spans: request === null ? [] : ofRequest(request), warnings };
}

function providerOf(
  writer: RingWriter,
  { limits, sampler, processors }: ProgramOptions,
): TracerProvider {
  return new TracerProvider({
    writer,
    ...(limits && { limits }),
    ...(sampler && { sampling: sampler }),
    ...(processors && { processors: processors() }),
  });
}

function theirs(program: Program, { limits, sampler, processors }: ProgramOptions): Outcome {
  const exporter = new InMemorySpanExporter();
  const provider = new SdkTracerProvider({
    spanProcessors: [...(processors?.() ?? []), new SimpleSpanProcessor({ exporter })],
    ...(limits && { spanLimits: limits }),
    ...(sampler && { sampler }),
  });
  const warnings = run(program, provider);
  const request = ProtobufTraceSerializer.serializeRequest(exporter.getFinishedSpans());
  return { spans: request === undefined ? [] : ofRequest(request), warnings };
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
  readonly timeUnixNano: string;
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
  readonly status: { readonly code: number; readonly message: string };
  readonly flags: number;
}

interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly {
      readonly scope: { readonly name: string; readonly version: string };
      readonly schemaUrl: string;
      readonly spans: readonly OtlpSpan[];
    }[];
  }[];
}

/** Spans by their scope, in the order in which they ended. */
function ofRequest(bytes: Uint8Array): unknown[] {
  const { resourceSpans } = readRequest(bytes) as OtlpRequest;
  const spans = resourceSpans.flatMap(({ scopeSpans }) =>
    scopeSpans.flatMap(({ scope, schemaUrl, spans: all }) =>
      all.map((span) => ({ span, scope: [scope.name, scope.version, schemaUrl] })),
    ),
  );
  const ids = new Ids();
  return spans
    .toSorted((one, other) => order(one.scope, other.scope))
    .map(({ span, scope }) => ofSpan(span, scope, ids));
}

function order(one: readonly string[], other: readonly string[]): number {
  const [first, second] = [one.join('\0'), other.join('\0')];
  if (first === second) return 0;
  return first < second ? -1 : 1;
}

function ofSpan(span: OtlpSpan, scope: readonly string[], ids: Ids): unknown {
  const start = ofNanos(span.startTimeUnixNano);
  return {
    traceId: ids.of(span.traceId),
    spanId: ids.of(span.spanId),
    parentSpanId: ids.of(span.parentSpanId),
    traceState: span.traceState ?? '',
    name: span.name,
    scope,
    kind: span.kind,
    start,
    end:
      span.endTimeUnixNano === span.startTimeUnixNano && start !== 'now'
        ? 'start'
        : ofNanos(span.endTimeUnixNano),
    status: { code: span.status.code, message: span.status.message },
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
    status: { code: span.status.code, message: span.status.message },
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

/** By key, for an object may have another order; as JSON has it, where NaN is null. */
function byKey(attributes: readonly OtlpAttribute[]): unknown {
  const sorted = attributes.toSorted((one, other) => (one.key < other.key ? -1 : 1));
  const entries = sorted.map(({ key, value }) => [key, value] as const);
  return JSON.parse(JSON.stringify(Object.fromEntries(entries)));
}

function ofTime({ isEpoch, seconds, nanos }: ReadTime): string {
  if (isEpoch) return ofNanos(String(BigInt(seconds) * 1_000_000_000n + BigInt(nanos)));
  const [now] = process.hrtime();
  return Math.abs(now - seconds) < 3_600 ? 'now' : `${seconds} s of the monotonic clock`;
}

function ofNanos(nanos: string): string {
  const apart = Number(BigInt(nanos) / 1_000_000n) - Date.now();
  return Math.abs(apart) < 3_600_000 ? 'now' : nanos;
}
