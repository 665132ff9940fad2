import type { Answer } from '../answer/answer.ts';
import type { AnswerOptions, Outcome, Producer } from '../answer/answer-options.ts';
import type { PendingCall } from '../outages/deadline-queue.ts';

/** One run of a producer, for all callers that miss meanwhile. */
export class PendingRun {
  readonly key: string;
  readonly startedAt: number = performance.now();
  readonly options: AnswerOptions;
  /** The value that it replaces. */
  readonly renews: Answer | undefined;
  /**
   * The end of the outdated value in the store; empty without one, undefined if it was not written by this cache.
   */
  readonly outdated: string | undefined;
  /** True once its key was deleted, or it took too long: its result goes only to earlier callers and is not stored. */
  isOutdated = false;
  /**
   * True once one of its tags turns out to have been invalidated since it began: only its own caller is certain to have
   * called before that.
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

  /** True if an invalidation of `tags` may concern it. */
  hasOneOf(tags: ReadonlySet<string>): boolean {
    const own = this.options.tags;
    return own === true || own?.some((tag) => tags.has(tag)) === true;
  }
}

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
