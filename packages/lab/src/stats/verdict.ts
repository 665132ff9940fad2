import type { Comparison, Interval, Verdict } from '../result.ts';

/** No run is trusted with less, as a fraction: smaller effects come and go with code layout alone. */
export const smallestBand = 0.02;

/**
 * How far from 1 a ratio may lie without meaning anything in this run: 2 %, or half the width of the interval of the
 * baseline against itself, whichever is more. Where that interval lies does not widen the band: the truth is 1 there, so the
 * distance from it is luck, of which the width tells all there is to know; one that does not hold 1 makes the run void.
 */
export function bandOf(control: Interval): number {
  return Math.max(smallestBand, Math.sqrt(control.high / control.low) - 1);
}

/** The baseline against itself: `same` unless its interval shows a difference that cannot be there. */
export function judgeControl(control: Interval): Verdict {
  if (control.low <= 1 && control.high >= 1) return 'same';
  return judge(control, smallestBand);
}

/** Wholly outside the band: changed. Wholly inside: same. Across an edge: unresolved. */
export function judge(ratio: Interval, band: number): Verdict {
  const upper = 1 + band;
  const lower = 1 / upper;
  if (ratio.low > upper || ratio.high < lower) return 'changed';
  if (ratio.low >= lower && ratio.high <= upper) return 'same';
  return 'unresolved';
}

/** @param blocks Blocks per variant that gave this interval, over all restarts. */
export function compare(ratio: Interval, band: number, blocks: number): Comparison {
  const verdict = judge(ratio, band);
  if (verdict !== 'unresolved') return { ratio, verdict };
  const settled = blocksToSettle(ratio, band, blocks);
  return settled === undefined ? { ratio, verdict } : { ratio, verdict, blocksToSettle: settled };
}

/** Width shrinks with the square root of the blocks; settled is when it no longer reaches the edge the estimate is nearest to. */
function blocksToSettle(ratio: Interval, band: number, blocks: number): number | undefined {
  const halfWidth = Math.log(ratio.high / ratio.low) / 2;
  const distance = Math.abs(Math.abs(Math.log(ratio.value)) - Math.log(1 + band));
  const needed = blocks * (halfWidth / distance) ** 2;
  // An estimate on the edge itself needs forever; past this the word alone says enough.
  if (!Number.isFinite(needed) || needed > 100_000) return undefined;
  return Math.ceil(Math.max(needed, blocks + 1) / 10) * 10;
}
