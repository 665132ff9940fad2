import type { Answer } from './answer.ts';
import type { Unshared } from './unshared.ts';

export interface AnswerOptions {
  /**
   * How long the answer is good for, in milliseconds.
   * @default the `ttl` of the cache
   */
  ttl?: number | undefined;
  /**
   * How long it is kept beyond that, in milliseconds: one caller makes a new one and waits for it; all others are given the
   * old one meanwhile, and so is that caller where the producer fails.
   * @default 0
   */
  stale?: number | undefined;
  /**
   * True where one caller makes a new answer a little before its time is up: the longer that takes, the earlier, and at
   * random, so that processes do not do it together (XFetch). Until then all others are given the old one.
   * @default false
   */
  early?: boolean | undefined;
  /**
   * What `invalidate` forgets the answer by; true where the producer says so through `shared`.
   * @default none
   */
  tags?: readonly string[] | true | undefined;
  /**
   * True where the answer is to say when it was made: everyone gets an `Answer`.
   * @default false
   */
  dated?: boolean | undefined;
  /**
   * Whether a stale answer may stand in for this failure of the producer.
   * @default for every failure
   */
  staleOnError?: ((error: unknown) => boolean) | undefined;
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
/** The JSON, with what is known of it where anything is, or what the producer kept for its own caller. */
export type Outcome = Kept | Unshared;
/** What is stored of an answer. */
export type Kept = string | Answer;

/** One production of an answer, for everyone who found none meanwhile. */
export class Flight {
  readonly key: string;
  readonly startedAt: number = performance.now();
  readonly options: AnswerOptions;
  /** What it is to take the place of. */
  readonly renews: Answer | undefined;
  /** The end of what is in the store and does not count; empty where there is nothing, undefined where that is not ours. */
  readonly outdated: string | undefined;
  /** True once its key was deleted, or it took too long: what it makes is for those who asked before, and is not stored. */
  isOutdated = false;
  /** True once a tag of what it has made turns out to be invalidated since it began: only its own caller surely asked before. */
  isSuperseded = false;
  /** True where another process has made it meanwhile: those who wait look again. */
  isMadeElsewhere = false;
  readonly promise: Promise<Outcome>;
  resolve!: (outcome: Outcome) => void;
  reject!: (error: unknown) => void;

  constructor(
    key: string,
    options: AnswerOptions,
    outdated: string | undefined,
    renews: Answer | undefined,
  ) {
    this.key = key;
    this.options = options;
    this.outdated = outdated;
    this.renews = renews;
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  /** Whether an invalidation of `tags` may concern it. */
  hasOneOf(tags: ReadonlySet<string>): boolean {
    const own = this.options.tags;
    return own === true || own?.some((tag) => tags.has(tag)) === true;
  }
}
