import { setTimeout as sleep } from 'node:timers/promises';
import { readThreads, type ThreadsReading } from '../system/cpu-clock.ts';
import type { Look } from './longest-pause.ts';

/** Some servers are never idle. */
const mostWatches = 10;

/**
 * Looks at a server until it has been idle for `idleMs`. In Node the main threads do the work, and others compile and collect
 * while they wait: then only the main threads are looked at.
 */
export async function watchThreads(
  pid: number,
  idleMs: number,
  signal: AbortSignal,
): Promise<readonly Look[]> {
  const begun = performance.now();
  let before = readThreads(pid);
  const main = [firstLook(begun)];
  const all = [firstLook(begun)];
  for (let [now, busyAt] = [begun, begun]; now - busyAt < idleMs;) {
    if (now - begun > mostWatches * idleMs) break;
    await sleep(1, undefined, { signal });
    const seen = readThreads(pid);
    now = performance.now();
    main.push(nextLook(main.at(-1)!, now, before.main, seen.main));
    all.push(nextLook(all.at(-1)!, now, before.all, seen.all));
    before = seen;
    const [last, latest] = all.slice(-2) as [Look, Look];
    if (latest.isRunnable || latest.usedMicros > last.usedMicros) busyAt = now;
  }
  return 2 * main.at(-1)!.usedMicros > all.at(-1)!.usedMicros ? main : all;
}

function firstLook(atMs: number): Look {
  return { atMs, usedMicros: 0, isRunnable: false };
}

function nextLook(last: Look, atMs: number, before: ThreadsReading, seen: ThreadsReading): Look {
  let { usedMicros } = last;
  for (const [pid, micros] of seen.byProcess) {
    // Of what was there both times: a thread or process that ends takes its time with it.
    usedMicros += Math.max(0, micros - (before.byProcess.get(pid) ?? micros));
  }
  return { atMs, usedMicros, isRunnable: seen.isRunnable };
}
