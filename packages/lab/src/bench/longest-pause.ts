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
