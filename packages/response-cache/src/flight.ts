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

/** One production of an answer, for everyone who found none meanwhile. */
export class Flight {
  readonly key: string;
  readonly startedAt: number = performance.now();
  /** True once its key was deleted, or it took too long: what it makes is for those who asked before, and is not stored. */
  isOutdated = false;
  readonly promise: Promise<Outcome>;
  resolve!: (outcome: Outcome) => void;
  reject!: (error: unknown) => void;

  constructor(key: string) {
    this.key = key;
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }
}
