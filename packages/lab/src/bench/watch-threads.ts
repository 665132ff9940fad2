import { setTimeout as sleep } from 'node:timers/promises';
import { readThreads, type ThreadsReading } from '../system/cpu-clock.ts';
import type { CpuSample } from './longest-pause.ts';

/** Limits the watch, because some servers are never idle. */
const maxWatchFactor = 10;

/**
 * Watches a server until it has been idle for `idleMs`. In Node the main threads do the work, and others compile and collect while
 * those wait: then only the main threads are watched.
 */
export async function watchThreads(
  pid: number,
  idleMs: number,
  signal: AbortSignal,
): Promise<readonly CpuSample[]> {
  const begun = performance.now();
  let before = readThreads(pid);
  const main = [firstSample(begun)];
  const all = [firstSample(begun)];
  for (let [now, busyAt] = [begun, begun]; now - busyAt < idleMs;) {
    if (now - begun > maxWatchFactor * idleMs) break;
    await sleep(1, undefined, { signal });
    const seen = readThreads(pid);
    now = performance.now();
    main.push(nextSample(main.at(-1)!, now, before.main, seen.main));
    all.push(nextSample(all.at(-1)!, now, before.all, seen.all));
    before = seen;
    const [last, latest] = all.slice(-2) as [CpuSample, CpuSample];
    if (latest.isRunnable || latest.usedMicros > last.usedMicros) busyAt = now;
  }
  return 2 * main.at(-1)!.usedMicros > all.at(-1)!.usedMicros ? main : all;
}

function firstSample(atMs: number): CpuSample {
  return { atMs, usedMicros: 0, isRunnable: false };
}

function nextSample(
  last: CpuSample,
  atMs: number,
  before: ThreadsReading,
  seen: ThreadsReading,
): CpuSample {
  let { usedMicros } = last;
  for (const [pid, micros] of seen.byProcess) {
    // Only what existed both times: a thread or process that ends takes its time with it.
    usedMicros += Math.max(0, micros - (before.byProcess.get(pid) ?? micros));
  }
  return { atMs, usedMicros, isRunnable: seen.isRunnable };
}
