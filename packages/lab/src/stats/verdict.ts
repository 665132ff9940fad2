import type { Comparison, Interval, Verdict } from '../figures.ts';
import { student } from './few-restarts.ts';

/** Differences below this come and go with code layout alone. */
export const defaultMargin = 0.02;

/** What a verdict is compared with, as fractions. */
export interface Bounds {
  /** `same` is within this, whatever the run's noise: a noisy run knows less, not more. @default 0.02 */
  margin?: number;
  /** The estimate of what is `changed` is beyond this: the margin, or what the run does to the baseline itself. */
  band: number;
}

/**
 * How far from 1 a ratio may lie before it counts as changed in this run: the margin, or half the width of the interval of
 * the baseline against itself, whichever is more. Where that interval lies does not widen the band: the truth is 1 there, so
 * the distance from it is luck, of which the width tells all there is to know; one that does not hold 1 makes the run void.
 */
export function bandOf(control: Interval, margin: number = defaultMargin): number {
  return Math.max(margin, Math.sqrt(control.high / control.low) - 1);
}

/** Whether the interval holds 1. Of the baseline against itself that is the truth, and a run without it is void. */
export function holdsOne({ low, high }: Interval): boolean {
  return low <= 1 && high >= 1;
}

/**
 * Without 1 in the interval, and with the estimate beyond the band: changed. With 1 in it, and wholly within the margin:
 * same. Otherwise unresolved. A rule that wants the whole interval beyond the band counts the noise of the run twice.
 */
export function judge(ratio: Interval, { margin = defaultMargin, band }: Bounds): Verdict {
  if (ratio.low > 1 || ratio.high < 1) {
    return isBeyond(ratio.value, band) ? 'changed' : 'unresolved';
  }
  const isSame = holdsOne(ratio) && !isBeyond(ratio.low, margin) && !isBeyond(ratio.high, margin);
  return isSame ? 'same' : 'unresolved';
}

/** A reach to either side of 1 is as far down as up, the way ratios count. */
export function isBeyond(ratio: number, reach: number): boolean {
  return ratio > 1 + reach || ratio < 1 / (1 + reach);
}

/** @param restarts How many gave this interval. */
export function compare(ratio: Interval, bounds: Bounds, restarts: number): Comparison {
  const verdict = judge(ratio, bounds);
  if (verdict !== 'unresolved') return { ratio, verdict };
  const needed = restartsToSettle(ratio, bounds, restarts);
  return needed === undefined ? { ratio, verdict } : { ratio, verdict, restartsToSettle: needed };
}

/** Fewer say too little of their own spread: of four, one hint in six did not settle. */
const leastRestarts = 5;
/** More than anybody would wait for. */
const mostRestarts = 200;
/**
 * A run that knows an effect less well than this says too little of it for advice: the effects that look large enough there
 * are mostly luck (in `npm run bench -- verdicts-model` two of three such hints settled).
 */
const mostUncertain = 0.016;
/** Standard errors that a run lies off its truth in one of ten. */
const nineOfTen = 1.2816;

/**
 * The restarts with which a run of this spread settles in nine of ten cases; undefined where no number does, because the
 * estimate is as near to an edge as its own uncertainty. Effect and spread of few restarts are themselves uncertain: of both
 * the end counts that nine of ten such runs keep.
 */
function restartsToSettle(
  ratio: Interval,
  { margin = defaultMargin, band }: Bounds,
  restarts: number,
): number | undefined {
  if (restarts < leastRestarts) return undefined;
  const halfWidth = Math.log(ratio.high / ratio.low) / 2;
  const shown = (halfWidth / student(restarts - 1)) * Math.sqrt(restarts);
  const spread = shown * (1 + 1.2 / Math.sqrt(restarts - 1));
  if (spread / Math.sqrt(restarts) > mostUncertain) return undefined;
  const effect = Math.abs(Math.log(ratio.value));
  // Where the interval excludes 1, a longer run would exclude it as well, and is not the same.
  const mayBeSame = holdsOne(ratio);
  const uncertain = (0.6 * student(restarts - 1) * shown) / Math.sqrt(restarts);
  for (let count = restarts + 1; count <= mostRestarts; count++) {
    const error = spread / Math.sqrt(count);
    const reach = (student(count - 1) + nineOfTen) * error;
    // The band of a longer run is as much narrower as its intervals are.
    const noise =
      (Math.log(1 + band) * student(count - 1) * Math.sqrt(restarts)) /
      (student(restarts - 1) * Math.sqrt(count));
    const beyond = Math.max(Math.log(1 + margin), noise);
    const isLarge = effect - uncertain - nineOfTen * error > beyond;
    if (isLarge && effect - uncertain - reach > 0) return roundedUp(count);
    if (mayBeSame && effect + uncertain + reach < Math.log(1 + margin)) return roundedUp(count);
  }
  return undefined;
}

/** Two digits: the third is not known. */
function roundedUp(count: number): number {
  return count < 100 ? count : Math.ceil(count / 10) * 10;
}
