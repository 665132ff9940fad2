/** What {@link unshared} makes: an answer for one caller alone. */
export class Unshared {
  /** What the producer returned, untouched. */
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

/**
 * Says that an answer is for the caller who asked and nobody else: it is not stored, and the callers who
 * waited for it run their own producers.
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
