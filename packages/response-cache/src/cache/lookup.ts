import type { PendingCall } from '../outages/deadline-queue.ts';
import type { AnswerOptions, Outcome, Producer } from '../answer/answer-options.ts';

/** Result of a lookup that was given up: its caller goes on in its own context. */
export const givenUp: unique symbol = Symbol('given up');

/**
 * One caller's read of the store. Unlike runs of a producer, lookups are not shared: a caller that arrives after a change must
 * not get a value that another caller requested before it.
 */
export class Lookup implements PendingCall {
  readonly key: string;
  readonly produce: Producer;
  readonly options: AnswerOptions;
  readonly promise: Promise<Outcome | typeof givenUp>;
  resolve!: (outcome: Outcome | typeof givenUp | Promise<Outcome>) => void;

  issuedAt: number = performance.now();
  isSettled = false;
  wasExtended = false;
  next: PendingCall | undefined = undefined;

  constructor(key: string, produce: Producer, options: AnswerOptions) {
    this.key = key;
    this.produce = produce;
    this.options = options;
    this.promise = new Promise((resolve) => {
      this.resolve = resolve;
    });
  }

  giveUp(): void {
    this.resolve(givenUp);
  }
}
