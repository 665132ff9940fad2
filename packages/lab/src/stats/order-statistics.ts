import type { Interval } from '../figures.ts';

/**
 * Interpolates linearly between order statistics (Hyndman & Fan 1996, type 7).
 * @param sorted Ascending.
 * @param share 0 to 1.
 */
export function quantileOfSorted(sorted: ArrayLike<number>, share: number): number {
  if (sorted.length === 0) return Number.NaN;
  const position = (sorted.length - 1) * share;
  const below = Math.floor(position);
  const low = sorted[below]!;
  const high = sorted[Math.min(below + 1, sorted.length - 1)]!;
  return low + (high - low) * (position - below);
}

export function median(values: readonly number[]): number {
  return quantileOfSorted(
    values.toSorted((a, b) => a - b),
    0.5,
  );
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Returns the median, with the order statistics that hold it 95 times in a hundred. */
export function medianInterval(values: readonly number[]): Interval {
  if (values.length === 0) return { value: 0, low: 0, high: 0 };
  const sorted = values.toSorted((a, b) => a - b);
  const reach = 0.98 / Math.sqrt(sorted.length);
  return {
    value: quantileOfSorted(sorted, 0.5),
    low: quantileOfSorted(sorted, Math.max(0, 0.5 - reach)),
    high: quantileOfSorted(sorted, Math.min(1, 0.5 + reach)),
  };
}

/**
 * Returns the median of the means of all pairs, each value paired with itself included (Hodges and Lehmann 1963). For well-behaved
 * values it is as precise as their mean, within 5 %; a few outliers, such as restarts during which something else uses the machine,
 * hardly affect it.
 */
export function hodgesLehmann(values: ArrayLike<number>): number {
  const means = new Float64Array((values.length * (values.length + 1)) / 2);
  let found = 0;
  for (let i = 0; i < values.length; i++) {
    for (let j = i; j < values.length; j++) means[found++] = (values[i]! + values[j]!) / 2;
  }
  return quantileOfSorted(means.sort(), 0.5);
}

const lowest: number[] = [];

/**
 * Returns the mean of the lowest quarter. Disturbances of a slice (another process, an interrupt, a collection of the old space)
 * only ever add to it, and may affect half of all slices: the lowest quarter is the undisturbed cost of the work. On a busy machine
 * its interval is half as wide as that of the lower half, and it lies nearer to the truth.
 */
export function lowestQuarterMean(values: ArrayLike<number>): number {
  return lowestMean(values, 1 / 4);
}

/** Returns the mean of the lowest values. @param share of all values */
export function lowestMean(values: ArrayLike<number>, share: number): number {
  const count = Math.ceil(values.length * share);
  // Insertion into the few lowest so far: for some dozens of values this is several times faster than a sort.
  lowest.length = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (lowest.length === count && value >= lowest[count - 1]!) continue;
    let place = Math.min(lowest.length, count - 1);
    while (place > 0 && lowest[place - 1]! > value) {
      lowest[place] = lowest[place - 1]!;
      place--;
    }
    lowest[place] = value;
  }
  let sum = 0;
  for (let i = 0; i < count; i++) sum += lowest[i]!;
  return sum / count;
}
