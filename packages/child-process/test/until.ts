import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves once it holds. The bound is for a machine under load. */
export async function until(what: string, holds: () => unknown): Promise<void> {
  const deadline = Date.now() + 300_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`still waiting: ${what}`);
    await sleep(5);
  }
}
