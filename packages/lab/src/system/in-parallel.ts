/**
 * Runs `work` on every item, at most `limit` at a time. After a failure it starts no further items, waits for the running ones, and
 * throws the first error: no work continues after it has returned.
 */
export async function inParallel<T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = [...items];
  const errors: unknown[] = [];
  const worker = async (): Promise<void> => {
    while (errors.length === 0 && waiting.length > 0) {
      await work(waiting.shift()!).catch((error: unknown) => errors.push(error));
    }
  };
  await Promise.all(Array.from({ length: limit }, worker));
  if (errors.length > 0) throw errors[0];
}
