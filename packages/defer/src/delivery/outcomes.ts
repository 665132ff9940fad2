import { untried, type DeliveryResult } from '../sink.ts';

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
