import type { Answer } from './answer.ts';
import type { Unshared } from './unshared.ts';

export interface AnswerOptions {
  /**
   * Lifetime of the response, in milliseconds.
   * @default the `ttl` of the cache
   */
  ttl?: number | undefined;
  /**
   * Time it is kept beyond its ttl, in milliseconds: one caller produces a new one and waits for it; all others get the
   * old one meanwhile, and so does that caller if the producer fails.
   * @default 0
   */
  stale?: number | undefined;
  /**
   * If true, one caller produces a new response shortly before the `ttl` ends: the longer that takes, the earlier,
   * and at a random moment, so that processes do not do it together (XFetch). Until then all others get the old one.
   * `'now'`: this caller does it, because `peek` returned `due`.
   * @default false
   */
  early?: boolean | 'now' | undefined;
  /**
   * `'behind'`: no caller waits for a renewal. A caller that finds an outdated response within `stale`, or one to be renewed
   * `early`, gets it at once, and `produce` runs in the background, once for all processes that share the store.
   * @default that caller makes the new one and waits for it
   */
  renew?: 'behind' | undefined;
  /**
   * Same as `renew: 'behind'`, but the first caller to find the outdated response waits for the new one, up to this many
   * milliseconds.
   * @default no limit; with `renew: 'behind'`, 0
   */
  patience?: number | undefined;
  /** Makes the value when no caller waits for it; `produce` if missing. @internal */
  produceBehind?: Producer | undefined;
  /**
   * Tags for `invalidate`; true if the producer supplies them through `shared`.
   * @default none
   */
  tags?: readonly string[] | true | undefined;
  /** Checks a kept `head`; a response with a damaged one is made again. @internal */
  isHead?: ((head: string) => boolean) | undefined;
  /** Tags of every response whose tags the producer supplies: a kept response without them is not used. @internal */
  leastTags?: readonly string[] | undefined;
  /**
   * If true, the response says when it was made: every caller gets an `Answer`.
   * @default false
   */
  dated?: boolean | undefined;
  /**
   * Decides if a stale answer may stand in for this failure of the producer.
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
   * True once the caller no longer waits, such as a client that has disconnected. Its failure is then not passed on:
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
