import { dead, type DeadResult, type Delivery } from '../sink.ts';

/**
 * Sends a batch that the server takes or refuses as a whole. If one job is at fault, it is found by bisection, so that
 * it alone is dead and the others arrive, still in order.
 */
export async function isolate(
  batch: readonly Delivery[],
  send: (part: readonly Delivery[]) => Promise<unknown>,
  isFaultOfJob: (error: unknown) => boolean,
): Promise<(DeadResult | undefined)[] | undefined> {
  try {
    await send(batch);
    return undefined;
  } catch (error) {
    if (!isFaultOfJob(error)) throw error;
    if (batch.length === 1) return [dead(error)];
  }
  const middle = Math.ceil(batch.length / 2);
  const results: (DeadResult | undefined)[] = [];
  for (const part of [batch.slice(0, middle), batch.slice(middle)]) {
    const outcome = await isolate(part, send, isFaultOfJob);
    results.push(...(outcome ?? part.map(() => undefined)));
  }
  return results;
}
