import type { SpanContext } from '@opentelemetry/api';
import type { SpanIdentity } from './span-identity.ts';

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
