import type { Interval } from '../figures.ts';
import { theilSen } from '../stats/theil-sen.ts';
import { heldBytes } from './memory.ts';
import type { Growth, Memory, Reading } from './result.ts';

/**
 * Bytes per 1,000 requests below which growth is not reported: an empty object takes 24 bytes and its place in a list 8, while V8's
 * feedback moves the heap of a running program by a few KB.
 */
export const minGrowth = 16_000;
/** Min growth of the later half of the rounds, as a share of the growth of all. */
const minLateShare = 0.4;

export function growthOf(readings: readonly Reading[]): Growth {
  const slope = (of: (memory: Memory) => number, from = 0): Interval =>
    theilSen(readings.slice(from).map((each) => [each.requests / 1_000, of(each)] as const));
  return {
    held: slope(heldBytes),
    heap: slope(({ heapUsed }) => heapUsed),
    external: slope(({ external }) => external),
    rss: slope(({ rss }) => rss),
    late: slope(heldBytes, Math.floor(readings.length / 2)),
  };
}

/** Requires the later rounds to grow like the earlier ones: a cache that fills grows, and then stops. */
export function grows({ held, late }: Growth): boolean {
  return held.low > minGrowth && late.value > held.value * minLateShare;
}
