import type { Interval } from '../figures.ts';
import { hodgesLehmann, mean, median, quantileOfSorted } from './order-statistics.ts';
import { smallSampleTail, tQuantile } from './small-sample.ts';
import type { Random } from './random.ts';

export const resamples = 10_000;

/** Result of one restart: a log ratio, above 0 is better. */
export interface Replicate {
  value: number;
  /** Returns a possible other result: the same statistic of its measurements, drawn with replacement. */
  redraw(random: Random): number;
}

/**
 * From this many restarts on, there are enough ways to draw them. All of five lie on one side of the truth once in sixteen runs,
 * and no draw reaches across: an interval that holds the truth 95 times in a hundred has to come from a distribution.
 */
const enoughRestarts = 6;

/**
 * Takes the median within a restart and `hodgesLehmann` over restarts. Slices of one process are not replicates: two identical
 * processes differ by more than their slices do, so a restart counts once, however many slices it has.
 * @param restarts Paired log ratios, one list per restart.
 */
export function estimate(restarts: readonly (readonly number[])[]): number {
  return hodgesLehmann(restarts.map((blocks) => median(blocks)));
}

/** Returns the `replicateInterval` of restarts given as lists of paired log ratios; each counts with its median. */
export function ratioInterval(
  restarts: readonly (readonly number[])[],
  random: Random,
  rounds: number = resamples,
): Interval {
  return replicateInterval(restarts.map(medianOf), random, rounds);
}

/** Makes the replicate of a restart that counts with the median of its blocks. */
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
 * Returns the 95 % interval of `hodgesLehmann` over restarts: the bootstrap of Davison & Hinkley 1997, §3.8, which draws whole
 * restarts with replacement, as chance within their blocks is part of how restarts differ. Its ends are the percentiles that hold
 * 95 % with that many restarts, see `smallSampleTail`. For two to five restarts it uses Student's t; for one, it draws its blocks.
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
    estimates[round] = hodgesLehmann(drawn);
  }
  estimates.sort();
  const tail = smallSampleTail(restarts.length);
  return {
    value: Math.exp(hodgesLehmann(values)),
    low: Math.exp(quantileOfSorted(estimates, tail)),
    high: Math.exp(quantileOfSorted(estimates, 1 - tail)),
  };
}

function studentInterval(values: readonly number[]): Interval {
  const centre = hodgesLehmann(values);
  const average = mean(values);
  const squares = values.reduce((sum, value) => sum + (value - average) ** 2, 0);
  const degrees = values.length - 1;
  const reach = tQuantile(degrees) * Math.sqrt(squares / degrees / values.length);
  return { value: Math.exp(centre), low: Math.exp(centre - reach), high: Math.exp(centre + reach) };
}

/** Returns the 95 % percentile interval of the median of a few values, one per restart. */
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

/** Sorts by insertion: for the ten or so blocks of a restart this is several times faster than Array.prototype.sort. */
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
