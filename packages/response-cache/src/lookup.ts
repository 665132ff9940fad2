import type { PendingCall } from './deadline-queue.ts';
import type { AnswerOptions, Outcome, Producer } from './flight.ts';

/**
 * One caller's question to the store. Lookups are not shared, as productions are: a caller after a change must not be
 * given what another asked for before it.
 */
export class Lookup implements PendingCall {
  readonly key: string;
  readonly produce: Producer;
  readonly options: AnswerOptions;
  readonly promise: Promise<Outcome>;
  resolve!: (outcome: Outcome | Promise<Outcome>) => void;

  issuedAt: number = performance.now();
  isSettled = false;
  wasExtended = false;
  next: PendingCall | undefined = undefined;
  readonly #onGivenUp: (lookup: Lookup) => void;

  constructor(
    key: string,
    produce: Producer,
    options: AnswerOptions,
    onGivenUp: (lookup: Lookup) => void,
  ) {
    this.key = key;
    this.produce = produce;
    this.options = options;
    this.#onGivenUp = onGivenUp;
    this.promise = new Promise((resolve) => {
      this.resolve = resolve;
    });
  }

  giveUp(): void {
    this.#onGivenUp(this);
  }
}
