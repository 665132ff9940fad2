import { setTimeout as sleep } from 'node:timers/promises';
import { readThreads, type ThreadsReading } from '../../system/cpu-clock.ts';

/** State of the threads of a server at one time. */
export interface CpuSample {
  atMs: number;
  /** CPU used since the watch began, in µs. */
  usedMicros: number;
  /** True if one of the threads ran, or waited for a core. */
  isRunnable: boolean;
}

/** Observed work without a pause. */
interface Burst {
  /** Time of the first sample that saw it. */
  startMs: number;
  /** Time of the last sample that saw it at work, or of the sample before if the work was over by then. */
  endMs: number;
  micros: number;
  /** Longest time between two samples that both saw it, after sending ended: it may have been idle in between. */
  longestGapMs: number;
}

/**
 * Returns the longest time in ms that a server may have been idle before it continued with requests it had received: never less
 * than the real idle time, and longer by the time between samples.
 * @param sentUntilMs Before this time it may have waited for its load.
 * @param minMicros Less work than this is not counted: a timer of the server's own takes less than a request.
 */
export function longestPause(
  samples: readonly CpuSample[],
  { sentUntilMs, minMicros }: { sentUntilMs: number; minMicros: number },
): number {
  let [longest, idleFrom, ignored] = [0, samples[0]!.atMs, 0];
  for (const { startMs, endMs, micros, longestGapMs } of burstsIn(samples, sentUntilMs)) {
    // A request may be processed in small pieces, between one wait and the next.
    ignored += micros;
    if (ignored < minMicros) continue;
    ignored = 0;
    if (startMs >= sentUntilMs) longest = Math.max(longest, startMs - idleFrom);
    longest = Math.max(longest, longestGapMs);
    idleFrom = endMs;
  }
  return longest;
}

function burstsIn(samples: readonly CpuSample[], sentUntilMs: number): Burst[] {
  const bursts: Burst[] = [];
  for (const [at, before] of samples.slice(0, -1).entries()) {
    const sample = samples[at + 1]!;
    const micros = sample.usedMicros - before.usedMicros;
    const last = bursts.at(-1);
    const endMs = sample.isRunnable ? sample.atMs : before.atMs;
    if (before.isRunnable && last !== undefined) {
      // A pause ends when the server wants the core. On a crowded machine it gets the core later, in pieces.
      last.micros += micros;
      last.endMs = endMs;
      if (micros > 0 && sample.atMs >= sentUntilMs) {
        last.longestGapMs = Math.max(last.longestGapMs, sample.atMs - before.atMs);
      }
    } else if (micros > 0 || sample.isRunnable) {
      bursts.push({ startMs: sample.atMs, endMs, micros, longestGapMs: 0 });
    }
  }
  return bursts;
}

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
