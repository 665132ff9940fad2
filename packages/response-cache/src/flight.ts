import type { Answer } from './answer.ts';
import type { Unshared } from './unshared.ts';

export interface AnswerOptions {
  /**
   * How long the answer is good for, in milliseconds.
   * @default the `ttl` of the cache
   */
  ttl?: number | undefined;
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
  /**
   * True once nobody waits for what this call produces, such as a client that has left. Its failure is then
   * nobody's: those who wait produce again, as often as it takes.
   */
  isAbandoned?: () => boolean;
}

/** Makes an answer, or a promise of one; `shared` and `unshared` say more about it. */
export type Producer = () => unknown;
/** The JSON, with its head where the producer gave one, or what the producer kept for its own caller. */
export type Outcome = Kept | Unshared;
/** What is stored of an answer. */
export type Kept = string | Answer;

/** One production of an answer, for everyone who found none meanwhile. */
export class Flight {
  readonly key: string;
  readonly startedAt: number = performance.now();
  readonly options: AnswerOptions;
  /** True once its key was deleted, or it took too long: what it makes is for those who asked before, and is not stored. */
  isOutdated = false;
  readonly promise: Promise<Outcome>;
  resolve!: (outcome: Outcome) => void;
  reject!: (error: unknown) => void;

  constructor(key: string, options: AnswerOptions) {
    this.key = key;
    this.options = options;
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }
}
