/**
 * Runs `work` on every item, at most `limit` at a time. After a failure nothing new begins, what runs is waited for, and
 * the first error is thrown: nobody is left working behind the caller's back.
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
