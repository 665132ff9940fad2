import type { Answer } from './answer.ts';

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

/** The result of {@link unshared}: a response for one caller only. */
export class Unshared {
  /** The value that the producer returned, unchanged. */
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

/**
 * Marks a response as private to its caller: it is not stored, and the callers that waited for it run their own
 * producers.
 *
 * @example
 * ```ts
 * const answer = await cache.answer('/me', async () => {
 *   const response = await load();
 *   return response.setsCookie ? unshared(response.body) : response.body;
 * });
 * ```
 */
export function unshared(value: unknown): Unshared {
  return new Unshared(value);
}

/** The use of an answer found in the store. */
export type Use = 'as it is' | 'renew early' | 'renew' | 'not at all';

/**
 * Decides on the use of a stored answer. Without `stale` and `early` only the store decides how long a value is valid,
 * because the clocks of two machines may differ.
 */
export function useOf(answer: Answer, { stale = 0, early = false }: AnswerOptions): Use {
  if (answer.isOutdated) return isWithin(answer, stale) ? 'renew' : 'not at all';
  if (stale === 0 && early === false) return 'as it is';
  const leftMs = answer.madeAt + answer.freshMs - Date.now();
  if (leftMs <= 0) return leftMs > -stale ? 'renew' : 'not at all';
  if (early === 'now') return 'renew early';
  // XFetch, by Vattani, Chierichetti and Lowenstein: the shorter the time left relative to the cost, the more probable.
  const isDue = early && answer.costMs * -Math.log(1 - Math.random()) >= leftMs;
  return isDue ? 'renew early' : 'as it is';
}

/* For answers whose freshness a soft invalidation has ended, however much of the ttl is left. */
function isWithin({ madeAt, freshMs }: Answer, stale: number): boolean {
  return stale > 0 && Date.now() < madeAt + freshMs + stale;
}
