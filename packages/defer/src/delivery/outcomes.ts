import { untried, type DeliveryResult, dead, type DeadResult, type Delivery } from '../sink.ts';

export type Outcome = PromiseSettledResult<unknown>;

/**
 * Returns the results of jobs that were sent in parallel. If none arrived and none is at fault, the sink is unavailable:
 * throws, so that no job loses an attempt.
 */
export function resultsOf(
  outcomes: readonly Outcome[],
  classify: (error: unknown) => DeliveryResult,
): DeliveryResult[] | undefined {
  const results = outcomes.map((outcome) =>
    outcome.status === 'fulfilled' ? undefined : classify(outcome.reason),
  );
  if (results.every((result) => result === undefined)) return undefined;
  if (results.every((result) => result?.kind === 'retry')) throw results[0]!.error;
  return results;
}

/** Sends one after the other up to the first that fails; those after it wait. */
export async function inOrder<T>(
  jobs: readonly T[],
  send: (job: T) => Promise<DeliveryResult>,
): Promise<DeliveryResult[]> {
  const results: DeliveryResult[] = [];
  for (const job of jobs) {
    const result = await send(job);
    results.push(result);
    if (result?.kind === 'retry') break;
  }
  while (results.length < jobs.length) results.push(untried(behind()));
  return results;
}

function behind(): Error {
  return new Error('An earlier job failed, and the sink keeps their order.');
}

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
