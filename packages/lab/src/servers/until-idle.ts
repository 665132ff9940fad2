import { setTimeout as sleep } from 'node:timers/promises';
import { isRunnable, readCpu } from '../system/cpu-clock.ts';

const lookEveryMs = 1;

/**
 * Waits until a server has used no CPU for `quietMs` and waits for none: on a crowded machine it may not get the core.
 * @param mostMs It may never be.
 */
export async function untilIdle(
  pid: number,
  { quietMs, mostMs }: { quietMs: number; mostMs: number },
  signal: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + mostMs;
  let [used, busyAt] = [-1, performance.now()];
  while (busyAt < deadline) {
    await sleep(lookEveryMs, undefined, { signal });
    const { totalMicros } = readCpu(pid);
    const now = performance.now();
    if (totalMicros !== used || isRunnable(pid)) [used, busyAt] = [totalMicros, now];
    else if (now - busyAt >= quietMs) return;
  }
}
