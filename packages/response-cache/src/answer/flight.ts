import type { Answer } from './answer.ts';
import type { Unshared } from './unshared.ts';

export interface AnswerOptions {
  /**
   * How long the response is valid, in milliseconds.
   * @default the `ttl` of the cache
   */
  ttl?: number | undefined;
  /**
   * How long it is kept beyond that, in milliseconds: one caller produces a new one and waits for it; all others get
   * the old one meanwhile, and so does that caller if the producer fails.
   * @default 0
   */
  stale?: number | undefined;
  /**
   * If true, one caller produces a new response a little before the `ttl` ends: the longer that takes, the earlier, and
   * at a random moment, so that processes do not do it together (XFetch). Until then all others get the old one.
   * `'now'`: this caller does; `peek` has said so.
   * @default false
   */
  early?: boolean | 'now' | undefined;
  /**
   * `'behind'`: no caller waits for a renewal. Who finds an outdated response within `stale`, or one to be renewed `early`, gets
   * it at once, and `produce` runs behind that: once for all processes that share the store.
   * @default that caller makes the new one and waits for it
   */
  renew?: 'behind' | undefined;
  /**
   * As `renew: 'behind'`, but who finds the outdated response first waits for the new one, for so many milliseconds at most.
   * @default no limit; with `renew: 'behind'`, 0
   */
  patience?: number | undefined;
  /** Makes the value where no caller waits for it; `produce` if it is missing. @internal */
  produceBehind?: Producer | undefined;
  /**
   * Tags for `invalidate`; true if the producer supplies them through `shared`.
   * @default none
   */
  tags?: readonly string[] | true | undefined;
  /** Whether a kept `head` can be given to a response; one that was damaged counts as none. @internal */
  isHead?: ((head: string) => boolean) | undefined;
  /** Tags that every response has, where the producer supplies them: a kept one without is not used. @internal */
  leastTags?: readonly string[] | undefined;
  /**
   * If true, the response says when it was made: everyone gets an `Answer`.
   * @default false
   */
  dated?: boolean | undefined;
  /**
   * Whether a stale answer may stand in for this failure of the producer.
   * @default for every failure
   */
  staleOnError?: ((error: unknown) => boolean) | undefined;
  /**
   * Name of this response in errors.
   * @default the key
   */
  name?: string;
  /**
   * Makes the JSON.
   * @default JSON.stringify
   */
  serialize?: (value: unknown) => string | undefined;
  /**
   * True once the caller no longer waits, such as a client that has disconnected. A failure then concerns nobody:
   * waiting callers produce again, as often as necessary.
   */
  isAbandoned?: () => boolean;
}

/** Produces a response, or a promise of one; `shared` and `unshared` add details. */
export type Producer = () => unknown;
/** The JSON, with its details if there are any, or the value that the producer kept for its own caller. */
export type Outcome = Kept | Unshared;
/** The stored form of a response. */
export type Kept = string | Answer;

/** One production of a response, for all callers that miss meanwhile. */
export class Flight {
  readonly key: string;
  readonly startedAt: number = performance.now();
  readonly options: AnswerOptions;
  /** The value that it replaces. */
  readonly renews: Answer | undefined;
  /**
   * The end of the outdated value in the store; empty if there is none, undefined if it was not written by this cache.
   */
  readonly outdated: string | undefined;
  /** True once its key was deleted, or it took too long: its result goes only to earlier callers and is not stored. */
  isOutdated = false;
  /**
   * True once one of its tags turns out to have been invalidated since it began: only its own caller is sure to have
   * come before.
   */
  isSuperseded = false;
  /** True if another process has made it meanwhile: waiting callers look again. */
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
