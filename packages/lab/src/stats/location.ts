import type { Interval } from '../result.ts';
import { mean, quantileOfSorted } from './quantile.ts';
import { resamples } from './bootstrap.ts';
import type { Random } from './random.ts';

/** A fifth off either end: a garbage collection that falls into one slice is no part of what is typical. */
const trim = 0.2;

/**
 * Mean of what is left without the extremes: nearly as steady as the mean where values are well behaved, and hardly
 * moved by the ones that are not.
 */
export function trimmedMean(values: readonly number[]): number {
  return trimmedMeanOfSorted(values.toSorted((a, b) => a - b));
}

/** Trimmed mean within a restart, mean over restarts. */
export function typical(restarts: readonly (readonly number[])[]): number {
  return mean(restarts.map(trimmedMean));
}

export interface Estimation {
  interval: Interval;
  /** Spread of the estimate: what a normal approximation needs. */
  standardError: number;
}

/** 95 % percentile interval of `typical`: restarts are drawn with replacement, then rounds within each. */
export function typicalInterval(
  restarts: readonly (readonly number[])[],
  random: Random,
  rounds: number = resamples,
): Estimation {
  const estimates = new Float64Array(rounds);
  const buffers = new Map(
    restarts.map((values) => [values.length, new Float64Array(values.length)]),
  );
  for (let round = 0; round < rounds; round++) {
    let sum = 0;
    for (let draw = 0; draw < restarts.length; draw++) {
      const values = restarts[Math.floor(random() * restarts.length)]!;
      const drawn = buffers.get(values.length)!;
      for (let i = 0; i < drawn.length; i++) {
        drawn[i] = values[Math.floor(random() * values.length)]!;
      }
      drawn.sort();
      sum += trimmedMeanOfSorted(drawn);
    }
    estimates[round] = sum / restarts.length;
  }
  estimates.sort();
  const centre = mean([...estimates]);
  const variance = estimates.reduce((sum, each) => sum + (each - centre) ** 2, 0) / rounds;
  return {
    interval: {
      value: typical(restarts),
      low: quantileOfSorted(estimates, 0.025),
      high: quantileOfSorted(estimates, 0.975),
    },
    standardError: Math.sqrt(variance),
  };
}

function trimmedMeanOfSorted(sorted: ArrayLike<number>): number {
  const off = Math.floor(sorted.length * trim);
  let sum = 0;
  for (let i = off; i < sorted.length - off; i++) sum += sorted[i]!;
  return sum / (sorted.length - 2 * off);
}

/** Chance of a standard normal value above `z` (Abramowitz & Stegun 26.2.17; error below 1e-7). */
export function normalTail(z: number): number {
  if (z < 0) return 1 - normalTail(-z);
  const t = 1 / (1 + 0.2316419 * z);
  const polynomial =
    t *
    (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * polynomial;
}
