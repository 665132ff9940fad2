import {
  defaultTextMapGetter,
  propagation,
  ROOT_CONTEXT,
  type Baggage,
  type Context,
  type Span,
} from '@opentelemetry/api';
import { RPCType, W3CBaggagePropagator, type RPCMetadata } from '@opentelemetry/core';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RingWriter } from '../native/ring-writer.ts';
import { BAGGAGE_KEY, RPC_METADATA_KEY, SPAN_KEY } from './context-keys.ts';
import { DerivedContext } from './derived-context.ts';
import type { OwnSpan, SpanIdentity } from './span-identity.ts';

/** Makes the spans of the requests of one engine. */
export interface RequestSpanFactory {
  /** Writes the changes of their spans. */
  readonly writer: RingWriter;
  identityOf(context: RequestContext): SpanIdentity;
  startSpan(context: RequestContext): OwnSpan & Span;
}

const baggagePropagator = new W3CBaggagePropagator();

/**
 * The context in which the listeners of a request run. It holds the facts by which the request is known, and makes its span when
 * something asks for it.
 */
export class RequestContext implements Context {
  readonly spans: RequestSpanFactory;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly slot: number;
  readonly generation: number;
  readonly sequence: number;
  #identity: SpanIdentity | undefined;
  #span: (OwnSpan & Span) | undefined;
  #baggage: Baggage | null | undefined;
  #rpc: RPCMetadata | undefined;

  constructor(
    spans: RequestSpanFactory,
    request: IncomingMessage,
    response: ServerResponse,
    slot: number,
    generation: number,
    sequence: number,
  ) {
    this.spans = spans;
    this.request = request;
    this.response = response;
    this.slot = slot;
    this.generation = generation;
    this.sequence = sequence;
    this.#identity = undefined;
    this.#span = undefined;
    this.#baggage = undefined;
    this.#rpc = undefined;
  }

  getValue(key: symbol): unknown {
    if (key === SPAN_KEY) return this.span;
    if (key === BAGGAGE_KEY) return this.baggage;
    if (key === RPC_METADATA_KEY) return this.#rpcMetadata();
    return undefined;
  }

  setValue(key: symbol, value: unknown): Context {
    return DerivedContext.of(this, key, value);
  }

  deleteValue(key: symbol): Context {
    return this.setValue(key, undefined);
  }

  /** The ids of the span: all that a child needs. */
  get identity(): SpanIdentity {
    this.#identity ??= this.spans.identityOf(this);
    return this.#identity;
  }

  get span(): OwnSpan & Span {
    this.#span ??= this.spans.startSpan(this);
    return this.#span;
  }

  /** Makes the span now. */
  start(): void {
    void this.span;
  }

  /** The span, if something has asked for it. */
  get startedSpan(): (OwnSpan & Span) | undefined {
    return this.#span;
  }

  /** The route that the instrumentation of a framework has set; undefined if none has. */
  get route(): string | undefined {
    return this.#rpc?.route;
  }

  /** The baggage of the request's headers. */
  get baggage(): Baggage | undefined {
    if (this.#baggage === undefined) {
      const { headers } = this.request;
      const context =
        headers['baggage'] === undefined
          ? ROOT_CONTEXT
          : baggagePropagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
      this.#baggage = propagation.getBaggage(context) ?? null;
    }
    return this.#baggage ?? undefined;
  }

  #rpcMetadata(): RPCMetadata {
    this.#rpc ??= { type: RPCType.HTTP, span: this.span };
    return this.#rpc;
  }
}
