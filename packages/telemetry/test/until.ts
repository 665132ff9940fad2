import { setTimeout as sleep } from 'node:timers/promises';

export async function until(what: string, isSo: () => unknown): Promise<void> {
  const deadline = Date.now() + 300_000;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`still waiting: ${what}`);
    await sleep(5);
  }
}
