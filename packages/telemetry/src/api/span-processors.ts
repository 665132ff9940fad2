import { diag, type Context } from '@opentelemetry/api';
import type { ReadableSpan, Span, SpanProcessor } from '@opentelemetry/sdk-trace';

/** Calls the processors of the user, in their order. An error of one is reported: the program that makes the span has no part in it. */
export class SpanProcessors implements SpanProcessor {
  readonly #all: readonly SpanProcessor[];

  constructor(all: readonly SpanProcessor[]) {
    this.#all = all;
  }

  onStart(span: Span, context: Context): void {
    this.#each((processor) => processor.onStart(span, context));
  }

  onEnding(span: Span): void {
    this.#each((processor) => processor.onEnding?.(span));
  }

  onEnd(span: ReadableSpan): void {
    this.#each((processor) => processor.onEnd(span));
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

  #each(call: (processor: SpanProcessor) => void): void {
    for (const processor of this.#all) {
      try {
        call(processor);
      } catch (error) {
        diag.error('A span processor has thrown.', error);
      }
    }
  }
}
