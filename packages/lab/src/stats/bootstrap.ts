import type { Interval } from '../result.ts';
import { centreOf } from './centre.ts';
import { smallSampleTail } from './few-restarts.ts';
import { median, quantileOfSorted } from './quantile.ts';
import type { Random } from './random.ts';

export const resamples = 10_000;

/** What one restart says: a log ratio, above 0 is better. */
export interface Replicate {
  value: number;
  /** What it might have said instead: the same of its measurements drawn with replacement. */
  redraw(random: Random): number;
}

/**
 * From so many restarts on they are drawn whole: what their blocks do by luck is in how the restarts differ. Of fewer there
 * are not enough ways to draw, and the blocks are drawn as well, which makes an interval wider than it need be.
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
 * 95 % interval of `centreOf` over restarts, by the two-level (cluster) bootstrap of Davison & Hinkley 1997, §3.8: restarts
 * are drawn with replacement; of few restarts, measurements within each as well. Its ends are the percentiles that hold
 * 95 % with so many restarts, see `smallSampleTail`.
 */
export function replicateInterval(
  restarts: readonly Replicate[],
  random: Random,
  rounds: number = resamples,
): Interval {
  const drawWhole = restarts.length >= enoughRestarts;
  const estimates = new Float64Array(rounds);
  const drawn = new Float64Array(restarts.length);
  for (let round = 0; round < rounds; round++) {
    for (let draw = 0; draw < restarts.length; draw++) {
      const restart = restarts[Math.floor(random() * restarts.length)]!;
      drawn[draw] = drawWhole ? restart.value : restart.redraw(random);
    }
    estimates[round] = centreOf(drawn);
  }
  estimates.sort();
  const tail = smallSampleTail(restarts.length);
  return {
    value: Math.exp(centreOf(restarts.map(({ value }) => value))),
    low: Math.exp(quantileOfSorted(estimates, tail)),
    high: Math.exp(quantileOfSorted(estimates, 1 - tail)),
  };
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
