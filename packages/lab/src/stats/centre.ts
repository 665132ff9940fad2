import { quantileOfSorted } from './quantile.ts';

/**
 * The median of the means of all pairs, each value with itself included (Hodges and Lehmann 1963). Of well-behaved values it
 * is as exact as their mean, within 5 %; of a few that lie far off, as a restart does while something else has the machine, it
 * takes little notice.
 */
export function centreOf(values: ArrayLike<number>): number {
  const means = new Float64Array((values.length * (values.length + 1)) / 2);
  let found = 0;
  for (let i = 0; i < values.length; i++) {
    for (let j = i; j < values.length; j++) means[found++] = (values[i]! + values[j]!) / 2;
  }
  return quantileOfSorted(means.sort(), 0.5);
}
