import type { PendingCall } from '../outages/deadline-queue.ts';
import type { AnswerOptions, Outcome, Producer } from '../answer/flight.ts';

/** What a lookup that nobody waits for any longer resolves with: its caller goes on in a context of its own. */
export const givenUp: unique symbol = Symbol('given up');

/**
 * One caller's question to the store. Lookups are not shared, as productions are: a caller after a change must not be
 * given what another asked for before it.
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
