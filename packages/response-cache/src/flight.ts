import type { PendingCall } from './deadline-queue.ts';
import type { Unshared } from './unshared.ts';

export interface AnswerOptions {
  /**
   * How long the answer is good for, in milliseconds.
   * @default the `ttlMs` of the cache
   */
  ttlMs?: number;
  /**
   * What an error calls this answer.
   * @default the key
   */
  name?: string;
  /**
   * Makes the JSON.
   * @default JSON.stringify
   */
  serialize?: (value: unknown) => string | undefined;
}

/** Makes an answer, or a promise of one. */
export type Producer = () => unknown;
/** The JSON, or what the producer kept for its own caller. */
export type Outcome = string | Unshared;

/** One lookup of a key, and the production after it when there is nothing, for everyone who asks meanwhile. */
export class Flight implements PendingCall {
  readonly key: string;
  readonly produce: Producer;
  readonly options: AnswerOptions;
  readonly promise: Promise<Outcome>;
  resolve!: (outcome: Outcome) => void;
  reject!: (error: unknown) => void;
  /** Who waits for the outcome, the first caller among them. */
  callers = 1;
  /** True once its key was deleted, or it took too long: what it finds is for those who asked before, and is not stored. */
  isOutdated = false;

  issuedAt: number = performance.now();
  isSettled = false;
  wasExtended = false;
  next: PendingCall | undefined = undefined;
  readonly giveUp: () => void;

  constructor(
    key: string,
    produce: Producer,
    options: AnswerOptions,
    giveUp: (flight: Flight) => void,
  ) {
    this.key = key;
    this.produce = produce;
    this.options = options;
    this.giveUp = () => giveUp(this);
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }
}
