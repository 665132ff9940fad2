import { setTimeout as sleep } from 'node:timers/promises';

const pollMs = 10;

/** Resolves when a process has ended, or after `maxMs`. */
export async function untilGone(pid: number, maxMs: number): Promise<void> {
  const deadline = performance.now() + maxMs;
  while (isRunning(pid) && performance.now() < deadline) await sleep(pollMs);
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
