import { setTimeout as sleep } from 'node:timers/promises';

/** Ends a test that waits for what does not come. A machine under load takes minutes. */
const MAX_MS = 300_000;
const STEP_MS = 5;

/**
 * Resolves once `holds` returns something true.
 *
 * @param what Named in the error after five minutes.
 */
export async function until(what: string, holds: () => unknown): Promise<void> {
  const deadline = Date.now() + MAX_MS;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`still waiting: ${what}`);
    await sleep(STEP_MS);
  }
}
