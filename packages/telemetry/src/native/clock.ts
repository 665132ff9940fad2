import { performance } from 'node:perf_hooks';

const NANOS_PER_MS = 1_000_000;
const NANOS_PER_SECOND = 1_000_000_000;

/** `performance.now()` of this thread, taken before a test can replace it by a fake clock. */
export const now: () => number = performance.now.bind(performance);
const hrtime = process.hrtime.bigint.bind(process.hrtime);

/** CLOCK_MONOTONIC at the origin of `performance.now()`, in nanoseconds. */
const origin = measureOrigin();
const originSeconds = Number(origin / BigInt(NANOS_PER_SECOND));
const originNanos = Number(origin % BigInt(NANOS_PER_SECOND));

/** Writes a time of `performance.now()` as seconds and nanoseconds of CLOCK_MONOTONIC. */
export function putMonotonic(words: Uint32Array, at: number, ms: number): void {
  const seconds = Math.floor(ms / 1_000);
  const nanos = Math.round((ms - seconds * 1_000) * NANOS_PER_MS) + originNanos;
  const isNext = nanos >= NANOS_PER_SECOND;
  words[at] = originSeconds + seconds + (isNext ? 1 : 0);
  words[at + 1] = isNext ? nanos - NANOS_PER_SECOND : nanos;
}

/** Milliseconds since 1970, as `Date.now()`. */
export const epochNow: () => number = Date.now;

let offset = performance.timeOrigin;

/** Returns the time since 1970 of one of `performance.now()`, by the system's clock as it is now: the two drift apart. */
export function epochMs(ms: number): number {
  const before = now();
  const epoch = epochNow();
  // The system's time is in whole milliseconds, and the thread may pause between two clocks.
  offset = Math.min(Math.max(offset, epoch - now()), epoch + 1 - before);
  return offset + ms;
}

/** Of several measurements the shortest is kept: one that no pause of the thread lengthened. */
function measureOrigin(): bigint {
  let measured = 0n;
  let shortest = Infinity;
  for (let attempt = 0; attempt < 8; attempt++) {
    const before = now();
    const monotonic = hrtime();
    const took = now() - before;
    if (took < shortest) {
      shortest = took;
      measured = monotonic - BigInt(Math.round((before + took / 2) * NANOS_PER_MS));
    }
  }
  return measured;
}
