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
