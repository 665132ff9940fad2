import type { Interval } from '../figures.ts';
import { centreOf } from './centre.ts';
import { smallSampleTail, student } from './few-restarts.ts';
import { mean, median, quantileOfSorted } from './quantile.ts';
import type { Random } from './random.ts';

export const resamples = 10_000;

/** What one restart says: a log ratio, above 0 is better. */
export interface Replicate {
  value: number;
  /** What it might have said instead: the same of its measurements drawn with replacement. */
  redraw(random: Random): number;
}

/**
 * From this many restarts on there are enough ways to draw them. Of five, all lie on one side of the truth once in sixteen
 * runs, and no drawing reaches across: an interval that holds the truth 95 times in a hundred has to come from a distribution.
 */
const enoughRestarts = 6;

/**
 * Median within a restart, `centreOf` over restarts. Slices of one process are not replicates: two identical processes
 * differ by more than their slices do, so a restart counts once, however many slices it has.
 * @param restarts Paired log ratios, one list per restart.
 */
export function estimate(restarts: readonly (readonly number[])[]): number {
  return centreOf(restarts.map((blocks) => median(blocks)));
}

/** `replicateInterval` of restarts that are lists of paired log ratios, each of which counts with its median. */
export function ratioInterval(
  restarts: readonly (readonly number[])[],
  random: Random,
  rounds: number = resamples,
): Interval {
  return replicateInterval(restarts.map(medianOf), random, rounds);
}

/** The replicate of a restart that counts with the median of its blocks. */
export function medianOf(blocks: readonly number[]): Replicate {
  const drawn: number[] = Array.from({ length: blocks.length });
  return {
    value: median(blocks),
    redraw(random) {
      for (let i = 0; i < blocks.length; i++)
        drawn[i] = blocks[Math.floor(random() * blocks.length)]!;
      return medianInPlace(drawn);
    },
  };
}

/**
 * 95 % interval of `centreOf` over restarts: the bootstrap of Davison & Hinkley 1997, §3.8, which draws restarts with
 * replacement and whole, as what their blocks do by luck is in how restarts differ. Its ends are the percentiles that hold
 * 95 % with that many restarts, see `smallSampleTail`. Of two to five restarts Student's t; of one, its blocks are drawn.
 */
export function replicateInterval(
  restarts: readonly Replicate[],
  random: Random,
  rounds: number = resamples,
): Interval {
  const values = restarts.map(({ value }) => value);
  if (restarts.length > 1 && restarts.length < enoughRestarts) return studentInterval(values);
  const estimates = new Float64Array(rounds);
  const drawn = new Float64Array(restarts.length);
  for (let round = 0; round < rounds; round++) {
    for (let draw = 0; draw < restarts.length; draw++) {
      const restart = restarts[Math.floor(random() * restarts.length)]!;
      drawn[draw] = restarts.length === 1 ? restart.redraw(random) : restart.value;
    }
    estimates[round] = centreOf(drawn);
  }
  estimates.sort();
  const tail = smallSampleTail(restarts.length);
  return {
    value: Math.exp(centreOf(values)),
    low: Math.exp(quantileOfSorted(estimates, tail)),
    high: Math.exp(quantileOfSorted(estimates, 1 - tail)),
  };
}

function studentInterval(values: readonly number[]): Interval {
  const centre = centreOf(values);
  const average = mean(values);
  const squares = values.reduce((sum, value) => sum + (value - average) ** 2, 0);
  const degrees = values.length - 1;
  const reach = student(degrees) * Math.sqrt(squares / degrees / values.length);
  return { value: Math.exp(centre), low: Math.exp(centre - reach), high: Math.exp(centre + reach) };
}

/** 95 % percentile interval of the median of a few values, one per restart. */
export function medianInterval(values: readonly number[], random: Random): Interval {
  const medians = new Float64Array(resamples);
  const drawn: number[] = Array.from({ length: values.length });
  for (let round = 0; round < resamples; round++) {
    for (let i = 0; i < values.length; i++) {
      drawn[i] = values[Math.floor(random() * values.length)]!;
    }
    medians[round] = medianInPlace(drawn);
  }
  medians.sort();
  return {
    value: median(values),
    low: quantileOfSorted(medians, 0.025),
    high: quantileOfSorted(medians, 0.975),
  };
}

/** Insertion sort: for the ten or so blocks of a restart it beats Array.prototype.sort several times over. */
function medianInPlace(values: number[]): number {
  for (let i = 1; i < values.length; i++) {
    const value = values[i]!;
    let place = i - 1;
    while (place >= 0 && values[place]! > value) {
      values[place + 1] = values[place]!;
      place--;
    }
    values[place + 1] = value;
  }
  return quantileOfSorted(values, 0.5);
}
