/** What a look at the threads of a server saw. */
export interface Look {
  atMs: number;
  /** CPU used since the watch began, in µs. */
  usedMicros: number;
  /** One of them ran, or waited for a core. */
  isRunnable: boolean;
}

/** Work without a pause that was seen. */
interface Burst {
  /** Of the look that saw it first. */
  startMs: number;
  /** Of the last look that saw it at work, or of the one before what it did was over. */
  endMs: number;
  micros: number;
  /** Between two looks of which both saw it, while nothing was sent: it may have been idle in between. */
  longestGapMs: number;
}

/**
 * The longest time in which a server may have been idle before it went on with what it had been sent, in ms: never less
 * than it was, and more by the time between looks.
 * @param sentUntilMs Before, it may have waited for its load.
 * @param leastMicros A timer of the server's own takes less than a request, and is not counted.
 */
export function longestPause(
  looks: readonly Look[],
  { sentUntilMs, leastMicros }: { sentUntilMs: number; leastMicros: number },
): number {
  let [longest, idleFrom, ignored] = [0, looks[0]!.atMs, 0];
  for (const { startMs, endMs, micros, longestGapMs } of burstsIn(looks, sentUntilMs)) {
    // A request may be worked on little by little, between one wait and the next.
    ignored += micros;
    if (ignored < leastMicros) continue;
    ignored = 0;
    if (startMs >= sentUntilMs) longest = Math.max(longest, startMs - idleFrom);
    longest = Math.max(longest, longestGapMs);
    idleFrom = endMs;
  }
  return longest;
}

function burstsIn(looks: readonly Look[], sentUntilMs: number): Burst[] {
  const bursts: Burst[] = [];
  for (const [at, before] of looks.slice(0, -1).entries()) {
    const look = looks[at + 1]!;
    const micros = look.usedMicros - before.usedMicros;
    const last = bursts.at(-1);
    const endMs = look.isRunnable ? look.atMs : before.atMs;
    if (before.isRunnable && last !== undefined) {
      // A pause is over when the server wants the core. On a crowded machine it gets it later, and piece by piece.
      last.micros += micros;
      last.endMs = endMs;
      if (micros > 0 && look.atMs >= sentUntilMs) {
        last.longestGapMs = Math.max(last.longestGapMs, look.atMs - before.atMs);
      }
    } else if (micros > 0 || look.isRunnable) {
      bursts.push({ startMs: look.atMs, endMs, micros, longestGapMs: 0 });
    }
  }
  return bursts;
}
