/** What is known of an answer beside its text. */
export interface AnswerFacts {
  /** What the producer gave as `head`; empty where it gave none. */
  readonly head: string;
  /** When it was made, in milliseconds since 1970. */
  readonly madeAt: number;
  /** How long it is fresh from then on, in milliseconds. */
  readonly freshMs: number;
  /** How long its production took, in milliseconds. */
  readonly costMs: number;
  readonly tags: readonly string[];
  /** Those of the tags at the time it was made: a tag that has another now was invalidated since. */
  readonly versions: readonly number[];
}

/** An answer that is more than its text: it has a head or tags, or is kept beyond its time, or says when it was made. */
export class Answer implements AnswerFacts {
  readonly json: string;
  readonly head: string;
  readonly madeAt: number;
  readonly freshMs: number;
  readonly costMs: number;
  readonly tags: readonly string[];
  readonly versions: readonly number[];
  /** `'made'` where its producer has run for this caller or one it waited with, otherwise what the store had. */
  readonly source: 'made' | 'fresh' | 'stale';
  /** The end of the stored value, which is that of no other; empty for one that is not stored. */
  readonly seal: string;
  /** The epoch of the tags in which it was last found current. @internal */
  currentIn: number | undefined;

  constructor(json: string, facts: AnswerFacts, source: Answer['source'], seal = '') {
    this.json = json;
    this.head = facts.head;
    this.madeAt = facts.madeAt;
    this.freshMs = facts.freshMs;
    this.costMs = facts.costMs;
    this.tags = facts.tags;
    this.versions = facts.versions;
    this.source = source;
    this.seal = seal;
    this.currentIn = undefined;
  }
}

export interface SharedDetails {
  /**
   * What belongs to the answer beside its text, such as status and headers, in one line of text. It is stored with it, and
   * everyone gets an {@link Answer} with both.
   */
  head?: string | undefined;
  /**
   * How long this answer is good for, in milliseconds; 0 where it is for those who wait now, and not stored.
   * @default the `ttl` of the call
   */
  ttl?: number | undefined;
  /** What `invalidate` forgets it by, beside the `tags` of the call, which must be an array or true. */
  tags?: readonly string[] | undefined;
  /**
   * The JSON of the value, where the producer has made it already.
   * @default what `serialize` makes of the value
   */
  json?: string | undefined;
}

/** What {@link shared} makes. */
export class Shared {
  readonly value: unknown;
  readonly details: SharedDetails;

  constructor(value: unknown, details: SharedDetails) {
    this.value = value;
    this.details = details;
  }
}

/**
 * Says more about an answer than its value.
 *
 * @example
 * ```ts
 * const answer = await cache.answer('/articles', async () => {
 *   const { articles, total } = await load();
 *   return shared(articles, { head: String(total), ttl: total === 0 ? 1_000 : 60_000 });
 * });
 * ```
 */
export function shared(value: unknown, details: SharedDetails): Shared {
  return new Shared(value, details);
}
