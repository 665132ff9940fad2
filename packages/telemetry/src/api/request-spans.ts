import {
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
  type SpanOptions,
} from '@opentelemetry/api';
import type { Sampler } from '@opentelemetry/sdk-trace';
import type { IncomingMessage, ServerResponse, IncomingHttpHeaders } from 'node:http';
import { requestWord } from '../native/ids.ts';
import type { RingWriter } from '../native/ring-writer.ts';
import { CHANGE } from '../native/wire.ts';
import { type OwnSpan, SpanIdentity } from './span-identity.ts';
import { RequestContext, type RequestSpanFactory } from './request-context.ts';
import { HeadSampling, NOT_RECORD, RECORD_AND_SAMPLED } from './sampling.ts';
import { ServerSpan, writeChange } from './server-span.ts';
import type { SpanScope } from './span-scope.ts';
import { TraceId } from './trace-id.ts';
import { UnrecordedSpan } from './unrecorded-span.ts';
import { parseTraceParent, TraceState } from '@opentelemetry/core';

export interface RequestSpansOptions {
  /** The scope of the spans of requests. */
  readonly scope: SpanScope;
  /** The ring that has the BEGIN records: the ids of the spans are derived from its seed. */
  readonly ring: Uint32Array;
  /** Writes the changes of the spans: the writer of the other ring of the same source. */
  readonly writer: RingWriter;
  /** Returns the attributes that samplers and processors see when a span starts. */
  readonly attributesOf?: (request: IncomingMessage) => Attributes;
}

/** Makes the contexts of the requests of one engine, and their spans. */
export class RequestSpans implements RequestSpanFactory {
  readonly writer: RingWriter;
  readonly #scope: SpanScope;
  readonly #ring: Uint32Array;
  readonly #attributesOf: ((request: IncomingMessage) => Attributes) | undefined;

  constructor(options: RequestSpansOptions) {
    this.writer = options.writer;
    this.#scope = options.scope;
    this.#ring = options.ring;
    this.#attributesOf = options.attributesOf;
  }

  /** Returns the context of a request that has begun. */
  begin(
    request: IncomingMessage,
    response: ServerResponse,
    slot: number,
    generation: number,
    sequence: number,
  ): RequestContext {
    const context = new RequestContext(this, request, response, slot, generation, sequence);
    if (this.isEager) context.start();
    return context;
  }

  /** True if user code takes part in every span: a sampler or a processor. */
  get isEager(): boolean {
    const { sampling, processor } = this.#scope.settings;
    return processor !== undefined || !(sampling instanceof HeadSampling);
  }

  identityOf(context: RequestContext): SpanIdentity {
    const { sampling } = this.#scope.settings;
    // The sampler of a user decides when the span starts.
    if (!(sampling instanceof HeadSampling)) return context.span.identity;
    const parent = remoteParent(context.request.headers);
    const traceId = this.#traceIdOf(context, parent);
    return this.#identity(context, traceId, sampling.flagsOf(traceId, parent), parent?.state);
  }

  startSpan(context: RequestContext): OwnSpan & Span {
    const { sampling } = this.#scope.settings;
    if (!(sampling instanceof HeadSampling)) return this.#startSampled(context, sampling);
    const { identity } = context;
    if (identity.flags === 0) return new UnrecordedSpan(identity);
    const parent = remoteParent(context.request.headers);
    return this.#record(context, identity, parent, this.#optionsOf(context));
  }

  /** Asks a sampler of the user's, and reports its decision to the thread. */
  #startSampled(context: RequestContext, sampler: Sampler): OwnSpan & Span {
    const { headers, method = 'GET' } = context.request;
    const parent = remoteParent(headers);
    const traceId = this.#traceIdOf(context, parent);
    const options = this.#optionsOf(context);
    const { attributes = {} } = options;
    const result = sampler.shouldSample(
      parentContextOf(context, parent),
      traceId.hex,
      method,
      SpanKind.SERVER,
      attributes,
      [],
    );
    const isSampled = result.decision === RECORD_AND_SAMPLED;
    writeChange(context, CHANGE.SAMPLED, (writer) => writer.word(isSampled ? 1 : 0));
    const state = result.traceState ?? parent?.state;
    const identity = this.#identity(context, traceId, isSampled ? 1 : 0, state);
    if (result.decision === NOT_RECORD) return new UnrecordedSpan(identity);
    const span = this.#record(context, identity, parent, options);
    if (result.attributes) span.setAttributes(result.attributes);
    return span;
  }

  #record(
    context: RequestContext,
    identity: SpanIdentity,
    parent: SpanIdentity | undefined,
    options: SpanOptions,
  ): ServerSpan {
    const span = new ServerSpan(this.#scope, identity, parent, context, options);
    span.startWith(options.attributes, []);
    const { processor } = this.#scope.settings;
    if (processor) processor.onStart(span, parentContextOf(context, parent));
    return span;
  }

  #optionsOf({ request }: RequestContext): SpanOptions {
    const attributes = this.isEager ? this.#attributesOf?.(request) : undefined;
    return attributes ? { kind: SpanKind.SERVER, attributes } : { kind: SpanKind.SERVER };
  }

  #traceIdOf(
    { slot, generation, sequence }: RequestContext,
    parent: SpanIdentity | undefined,
  ): TraceId {
    if (parent !== undefined) return parent.trace;
    const ring = this.#ring;
    return new TraceId(
      requestWord(ring, 0, slot, generation, sequence),
      requestWord(ring, 1, slot, generation, sequence),
      requestWord(ring, 2, slot, generation, sequence),
      requestWord(ring, 3, slot, generation, sequence),
    );
  }

  #identity(
    { slot, generation, sequence }: RequestContext,
    traceId: TraceId,
    flags: number,
    state: SpanIdentity['state'],
  ): SpanIdentity {
    const high = requestWord(this.#ring, 4, slot, generation, sequence);
    const low = requestWord(this.#ring, 5, slot, generation, sequence);
    return new SpanIdentity(traceId, high, low, flags, state);
  }
}

/**
 * Ends the span of a request for processors. Without a processor it does nothing.
 *
 * @param attributes those that the response adds to the span
 */
export function onResponseEnd(
  context: RequestContext,
  statusCode: number,
  attributes: Attributes = {},
): void {
  const span = context.startedSpan;
  if (!(span instanceof ServerSpan) || span.scope.settings.processor === undefined) return;
  span.setKnownAttribute('http.response.status_code', statusCode);
  for (const [key, value] of Object.entries(attributes)) span.setKnownAttribute(key, value);
  const route = attributes['http.route'];
  if (typeof route === 'string') span.setKnownName(`${context.request.method} ${route}`);
  if (statusCode >= 500 && span.statusCode === SpanStatusCode.UNSET) {
    span.setKnownStatus(SpanStatusCode.ERROR);
  }
  span.endWithResponse();
}

/** Returns the context that the headers of a request make. */
function parentContextOf(request: RequestContext, parent: SpanIdentity | undefined): Context {
  const baggage = request.baggage;
  const context =
    parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent.context);
  return baggage === undefined ? context : propagation.setBaggage(context, baggage);
}

/** Returns the span of the client that a request names; undefined if it names none, or not as the specification wants. */
export function remoteParent(headers: IncomingHttpHeaders): SpanIdentity | undefined {
  const { traceparent, tracestate } = headers;
  // A comma joins two headers, of which a later version would be read as one.
  if (typeof traceparent !== 'string' || traceparent.includes(',')) return undefined;
  const context = parseTraceParent(traceparent);
  if (context === null) return undefined;
  context.isRemote = true;
  if (tracestate !== undefined && tracestate.length > 0) {
    context.traceState = new TraceState(
      typeof tracestate === 'string' ? tracestate : tracestate.join(','),
    );
  }
  return SpanIdentity.of(context);
}
