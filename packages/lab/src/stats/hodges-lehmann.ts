import { quantileOfSorted } from './quantile.ts';

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
