import type { Interval } from '../figures.ts';
import { quantileOfSorted } from './quantile.ts';

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
