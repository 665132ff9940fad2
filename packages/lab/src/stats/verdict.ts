import type { Comparison, Interval, Verdict } from '../figures.ts';
import { tQuantile } from './small-sample.ts';

/** Differences below this appear and disappear with code layout alone. */
export const defaultMargin = 0.02;

/** Thresholds of a verdict, as fractions. */
export interface Bounds {
  /** Limit of `same`, whatever the run's noise: a noisy run knows less, not more. @default 0.02 */
  margin?: number;
  /** Limit of `changed` for the estimate: the margin, or the run's noise between two copies of the baseline. */
  band: number;
}

/**
 * Returns how far from 1 a ratio may lie before it counts as changed in this run: the margin, or half the width of the baseline's
 * interval against itself, whichever is larger. The position of that interval does not widen the band: the truth is 1 there, so its
 * distance from 1 is luck, which the width already covers; an interval that excludes 1 makes the run void.
 */
export function bandOf(control: Interval, margin: number = defaultMargin): number {
  return Math.max(margin, Math.sqrt(control.high / control.low) - 1);
}

/** True if the interval holds 1. For the baseline against itself, 1 is the truth, and a run that excludes it is void. */
export function holdsOne({ low, high }: Interval): boolean {
  return low <= 1 && high >= 1;
}

/**
 * Judges an interval: changed if it excludes 1 and the estimate is beyond the band; same if it holds 1 and lies entirely within the
 * margin; otherwise unresolved. A rule that requires the whole interval beyond the band would count the noise of the run twice.
 */
export function judge(ratio: Interval, { margin = defaultMargin, band }: Bounds): Verdict {
  if (ratio.low > 1 || ratio.high < 1) {
    return isBeyond(ratio.value, band) ? 'changed' : 'unresolved';
  }
  const isSame = holdsOne(ratio) && !isBeyond(ratio.low, margin) && !isBeyond(ratio.high, margin);
  return isSame ? 'same' : 'unresolved';
}

/** True if the ratio is farther from 1 than the reach, which extends equally far up and down on a ratio scale. */
export function isBeyond(ratio: number, reach: number): boolean {
  return ratio > 1 + reach || ratio < 1 / (1 + reach);
}

/** @param restarts Number of restarts that gave this interval. */
export function compare(ratio: Interval, bounds: Bounds, restarts: number): Comparison {
  const verdict = judge(ratio, bounds);
  if (verdict !== 'unresolved') return { ratio, verdict };
  const needed = restartsToSettle(ratio, bounds, restarts);
  return needed === undefined ? { ratio, verdict } : { ratio, verdict, restartsToSettle: needed };
}

/** Fewer restarts say too little about their own spread: with four, one hint in six did not settle. */
const minRestarts = 5;
/** Longer than any user would wait. */
const maxRestarts = 200;
/**
 * Max standard error for a hint: a run that knows an effect less precisely cannot advise on it, as the effects that look large
 * enough there are mostly luck (in `npm run bench -- verdicts-model` two of three such hints settled).
 */
const maxStandardError = 0.016;
/** Standard errors by which one run in ten is off the truth. */
const nineOfTen = 1.2816;

/**
 * Returns the number of restarts with which a run of this spread settles in nine of ten cases; undefined if no number does, because
 * the estimate is as near to an edge as its own uncertainty. Effect and spread of few restarts are themselves uncertain: for both,
 * the end that nine of ten such runs keep is used.
 */
function restartsToSettle(
  ratio: Interval,
  { margin = defaultMargin, band }: Bounds,
  restarts: number,
): number | undefined {
  if (restarts < minRestarts) return undefined;
  const halfWidth = Math.log(ratio.high / ratio.low) / 2;
  const shown = (halfWidth / tQuantile(restarts - 1)) * Math.sqrt(restarts);
  const spread = shown * (1 + 1.2 / Math.sqrt(restarts - 1));
  if (spread / Math.sqrt(restarts) > maxStandardError) return undefined;
  const effect = Math.abs(Math.log(ratio.value));
  // If the interval excludes 1, a longer run would exclude it as well, and cannot be the same.
  const mayBeSame = holdsOne(ratio);
  const uncertain = (0.6 * tQuantile(restarts - 1) * shown) / Math.sqrt(restarts);
  for (let count = restarts + 1; count <= maxRestarts; count++) {
    const error = spread / Math.sqrt(count);
    const reach = (tQuantile(count - 1) + nineOfTen) * error;
    // The band of a longer run narrows in proportion to its intervals.
    const noise =
      (Math.log(1 + band) * tQuantile(count - 1) * Math.sqrt(restarts)) /
      (tQuantile(restarts - 1) * Math.sqrt(count));
    const beyond = Math.max(Math.log(1 + margin), noise);
    const isLarge = effect - uncertain - nineOfTen * error > beyond;
    if (isLarge && effect - uncertain - reach > 0) return roundedUp(count);
    if (mayBeSame && effect + uncertain + reach < Math.log(1 + margin)) return roundedUp(count);
  }
  return undefined;
}

/** Rounds up to two digits: the third is not known. */
function roundedUp(count: number): number {
  return count < 100 ? count : Math.ceil(count / 10) * 10;
}
