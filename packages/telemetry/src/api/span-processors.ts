import { diag, type Context } from '@opentelemetry/api';
import type { ReadableSpan, Span, SpanProcessor } from '@opentelemetry/sdk-trace';

/** Calls the processors of the user, in their order. */
export class SpanProcessors implements SpanProcessor {
  readonly #all: readonly SpanProcessor[];

  constructor(all: readonly SpanProcessor[]) {
    this.#all = all;
  }

  onStart(span: Span, context: Context): void {
    for (const processor of this.#all) processor.onStart(span, context);
  }

  onEnding(span: Span): void {
    for (const processor of this.#all) processor.onEnding?.(span);
  }

  onEnd(span: ReadableSpan): void {
    for (const processor of this.#all) processor.onEnd(span);
  }

  /** An error of one processor is reported, and keeps no other from being flushed. */
  async forceFlush(): Promise<void> {
    const results = await Promise.allSettled(this.#all.map((each) => each.forceFlush()));
    for (const result of results) {
      if (result.status === 'rejected') diag.error('A span processor cannot flush.', result.reason);
    }
  }

  async shutdown(): Promise<void> {
    await Promise.all(this.#all.map((each) => each.shutdown()));
  }
}
