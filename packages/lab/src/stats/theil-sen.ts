import type { Interval } from '../figures.ts';
import { quantileOfSorted } from './order-statistics.ts';
import { z } from './small-sample.ts';

/**
 * Returns the slope through points, with its 95 % interval: the median of all slopes between two points (Theil 1950), and the ranks
 * between which Kendall's tau places the true one (Sen 1968). Robust to outliers in up to 29 % of the points, such as an incomplete
 * collection or a table that doubled.
 */
export function theilSen(points: readonly (readonly [x: number, y: number])[]): Interval {
  const slopes: number[] = [];
  for (let a = 0; a < points.length; a++) {
    for (let b = a + 1; b < points.length; b++) {
      slopes.push((points[b]![1] - points[a]![1]) / (points[b]![0] - points[a]![0]));
    }
  }
  const sorted = slopes.toSorted((a, b) => a - b);
  const n = points.length;
  const reach = z * Math.sqrt((n * (n - 1) * (2 * n + 5)) / 18);
  const low = Math.floor((sorted.length - reach) / 2) - 1;
  return {
    value: quantileOfSorted(sorted, 0.5),
    // With too few points for the ranks, every slope is possible.
    low: sorted[low] ?? Number.NEGATIVE_INFINITY,
    high: sorted[sorted.length - 1 - low] ?? Number.POSITIVE_INFINITY,
  };
}
