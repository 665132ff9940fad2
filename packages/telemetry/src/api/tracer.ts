import {
  context as contextApi,
  diag,
  INVALID_SPAN_CONTEXT,
  isSpanContextValid,
  SpanKind,
  trace,
  TraceFlags,
  type Context,
  type Span,
  type SpanOptions,
  type Tracer as TracerApi,
} from '@opentelemetry/api';
import { cleanAttributes, isTracingSuppressed } from '@opentelemetry/core';
import type { Sampler } from '@opentelemetry/sdk-trace';
import { withSpan } from './derived-context.ts';
import { OwnSpan, SpanIdentity } from './span-identity.ts';
import { RecordingSpan } from './recording-span.ts';
import { RequestContext } from './request-context.ts';
import { HeadSampling, NOT_RECORD, RECORD_AND_SAMPLED } from './sampling.ts';
import { spanLinks, type SpanLink } from './span-link.ts';
import type { SpanScope } from './span-scope.ts';
import { TraceId } from './trace-id.ts';
import { UnrecordedSpan } from './unrecorded-span.ts';

const NO_LINKS: SpanLink[] = [];
const NO_LIMITS = { attributeCountLimit: Infinity, attributeValueLengthLimit: Infinity };

/** Starts spans. One that is recorded becomes a record of the ring when it ends. */
export class Tracer implements TracerApi {
  readonly #scope: SpanScope;

  constructor(scope: SpanScope) {
    this.#scope = scope;
  }

  startSpan(name: string, options?: SpanOptions, context: Context = contextApi.active()): Span {
    if (isTracingSuppressed(context)) {
      diag.debug('Instrumentation suppressed, returning Noop Span');
      return trace.wrapSpanContext(INVALID_SPAN_CONTEXT);
    }
    const from = options?.root ? trace.deleteSpan(context) : context;
    const parent = parentOf(from);
    const { sampling, limits } = this.#scope.settings;
    const traceId = parent === undefined ? TraceId.random() : parent.trace;
    if (!(sampling instanceof HeadSampling)) {
      return this.#startSampled(name, options, from, traceId, parent, sampling);
    }
    const identity = SpanIdentity.random(traceId, sampling.flagsOf(traceId, parent), parent?.state);
    if (identity.flags === TraceFlags.NONE) return new UnrecordedSpan(identity);
    const span = new RecordingSpan(this.#scope, identity, parent, name, options);
    if (options !== undefined) {
      const links = options.links === undefined ? NO_LINKS : spanLinks(options.links, limits);
      span.startWith(options.attributes, links);
    }
    return this.#start(span, from);
  }

  startActiveSpan<F extends (span: Span) => unknown>(name: string, fn: F): ReturnType<F>;
  startActiveSpan<F extends (span: Span) => unknown>(
    name: string,
    options: SpanOptions,
    fn: F,
  ): ReturnType<F>;
  startActiveSpan<F extends (span: Span) => unknown>(
    name: string,
    options: SpanOptions,
    context: Context,
    fn: F,
  ): ReturnType<F>;
  startActiveSpan(name: string, second: unknown, third?: unknown, fourth?: unknown): unknown {
    // The callback is the last argument.
    const callback = (fourth ?? third ?? second) as ((span: Span) => unknown) | undefined;
    if (callback === undefined) return undefined;
    const options = callback === second ? undefined : (second as SpanOptions | undefined);
    const given = fourth === undefined ? undefined : (third as Context | undefined);
    const context = given ?? contextApi.active();
    const span = this.startSpan(name, options, context);
    return contextApi.with(withSpan(context, span), callback, undefined, span);
  }

  #start(span: RecordingSpan, context: Context): RecordingSpan {
    const { processor } = this.#scope.settings;
    if (processor !== undefined) processor.onStart(span, context);
    return span;
  }

  /** Asks a sampler of the user's. */
  #startSampled(
    name: string,
    options: SpanOptions = {},
    context: Context,
    traceId: TraceId,
    parent: SpanIdentity | undefined,
    sampler: Sampler,
  ): Span {
    const links = spanLinks(options.links, this.#scope.settings.limits);
    const { attributes = {}, droppedAttributesCount = 0 } = cleanAttributes(
      options.attributes,
      NO_LIMITS,
    );
    const result = sampler.shouldSample(
      context,
      traceId.hex,
      name,
      options.kind ?? SpanKind.INTERNAL,
      attributes,
      links,
    );
    const isSampled = result.decision === RECORD_AND_SAMPLED;
    const flags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
    const identity = SpanIdentity.random(traceId, flags, result.traceState ?? parent?.state);
    if (result.decision === NOT_RECORD) return new UnrecordedSpan(identity);
    const span = new RecordingSpan(this.#scope, identity, parent, name, options);
    span.startWith(Object.assign(attributes, result.attributes), links);
    span.droppedAttributesCount += droppedAttributesCount;
    return this.#start(span, context);
  }
}

/** Returns the span of a context; undefined if it has none that is valid. */
function parentOf(context: Context): SpanIdentity | undefined {
  if (context instanceof RequestContext) return context.identity;
  const span = trace.getSpan(context);
  if (span instanceof OwnSpan) return span.identity;
  if (span === undefined) return undefined;
  const spanContext = span.spanContext();
  return isSpanContextValid(spanContext) ? SpanIdentity.of(spanContext) : undefined;
}
