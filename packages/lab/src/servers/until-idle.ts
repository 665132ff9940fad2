import { setTimeout as sleep } from 'node:timers/promises';
import { isRunnable, readCpu } from '../system/cpu-clock.ts';

const pollMs = 1;
const gonePollMs = 10;

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

/** Resolves when a process has ended, or after `maxMs`. */
export async function untilGone(pid: number, maxMs: number): Promise<void> {
  const deadline = performance.now() + maxMs;
  while (isRunning(pid) && performance.now() < deadline) await sleep(gonePollMs);
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
