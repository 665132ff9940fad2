import type { SpanContext, TraceState } from '@opentelemetry/api';
import { hexOfWord, randomWord, wordOfHex } from '../native/ids.ts';
import { TraceId } from './trace-id.ts';

/** The ids of a span as words. Their texts are made when something reads them. */
export class SpanIdentity {
  readonly trace: TraceId;
  /** The two words of the span id. */
  readonly high: number;
  readonly low: number;
  readonly flags: number;
  readonly state: TraceState | undefined;
  #context: SpanContext | undefined;

  constructor(
    trace: TraceId,
    high: number,
    low: number,
    flags: number,
    state: TraceState | undefined,
  ) {
    this.trace = trace;
    this.high = high;
    this.low = low;
    this.flags = flags;
    this.state = state;
    this.#context = undefined;
  }

  /** Returns the identity of a new span in a trace. */
  static random(trace: TraceId, flags: number, state: TraceState | undefined): SpanIdentity {
    const low = randomWord();
    return new SpanIdentity(trace, randomWord(), low === 0 ? 1 : low, flags, state);
  }

  /** @param context a valid one, of another process or of another tracer */
  static of(context: SpanContext): SpanIdentity {
    const identity = new SpanIdentity(
      TraceId.parse(context.traceId),
      wordOfHex(context.spanId, 0),
      wordOfHex(context.spanId, 8),
      context.traceFlags,
      context.traceState,
    );
    identity.#context = context;
    return identity;
  }

  get context(): SpanContext {
    this.#context ??= contextOf(this);
    return this.#context;
  }

  /** True if another process began it. Only {@link SpanIdentity.of} makes one that is. */
  get isRemote(): boolean {
    return this.#context?.isRemote === true;
  }
}

function contextOf(identity: SpanIdentity): SpanContext {
  const context: SpanContext = {
    traceId: identity.trace.hex,
    spanId: hexOfWord(identity.high) + hexOfWord(identity.low),
    traceFlags: identity.flags,
  };
  if (identity.state !== undefined) context.traceState = identity.state;
  return context;
}

/** A span of this tracer, whose ids its children read without their texts. */
export abstract class OwnSpan {
  readonly identity: SpanIdentity;

  constructor(identity: SpanIdentity) {
    this.identity = identity;
  }

  spanContext(): SpanContext {
    return this.identity.context;
  }
}

const TRACE_FLAGS = 0xff;
const HAS_IS_REMOTE = 0x100;
const IS_REMOTE = 0x200;

/** Returns the flags of OTLP of a span with such a parent, or of a link to such a span. */
export function otlpFlags(traceFlags: number, isRemote: boolean): number {
  return (traceFlags & TRACE_FLAGS) | HAS_IS_REMOTE | (isRemote ? IS_REMOTE : 0);
}
