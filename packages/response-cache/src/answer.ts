/** An answer that is more than its text. Made from what a producer returned through {@link shared}. */
export class Answer {
  readonly json: string;
  /** What the producer gave as `head`. */
  readonly head: string;

  constructor(json: string, head: string) {
    this.json = json;
    this.head = head;
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
