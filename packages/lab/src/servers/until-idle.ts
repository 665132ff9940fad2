import { setTimeout as sleep } from 'node:timers/promises';
import { isRunnable, readCpu } from '../system/cpu-clock.ts';

const pollMs = 1;

/**
 * Waits until a server has used no CPU for `quietMs` and is not waiting for any: on a crowded machine it may not get the core.
 * @param maxMs Max wait: a server may never be idle.
 */
export async function untilIdle(
  pid: number,
  { quietMs, maxMs }: { quietMs: number; maxMs: number },
  signal: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + maxMs;
  let [used, busyAt] = [-1, performance.now()];
  while (busyAt < deadline) {
    await sleep(pollMs, undefined, { signal });
    const { totalMicros } = readCpu(pid);
    const now = performance.now();
    if (totalMicros !== used || isRunnable(pid)) [used, busyAt] = [totalMicros, now];
    else if (now - busyAt >= quietMs) return;
  }
}
