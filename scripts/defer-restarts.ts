// Presents results of few restarts. An interval of two restarts spans decades and is less informative than the two values:
// these are shown instead, without a ratio.
import { type Interval, ratioBetween, type Slice } from '@redline/lab';
import { ratioText } from './ratio-text.ts';

/** Min restarts for an interval. */
export const minRestarts = 3;

export interface Pair {
  readonly variant: string;
  readonly other: string;
}

/** A ratio of requests per second: with its interval, or as the value of each of too few restarts. */
export interface Against {
  readonly interval: Interval | undefined;
  readonly text: string;
}

export function against(slices: readonly Slice[], { variant, other }: Pair): Against {
  if (variant === other) return { interval: undefined, text: '1' };
  const own = slices.filter((slice) => slice.variant === variant || slice.variant === other);
  const restarts = byRestart(own);
  if (restarts.length >= minRestarts) {
    const interval = ratioBetween(own, { variant, other, metric: 'rps' });
    return { interval, text: ratioText(interval) };
  }
  const each = restarts.flatMap((restart) => {
    const ratio = ratioBetween(restart, { variant, other, metric: 'rps' });
    return ratio === undefined ? [] : ratio.value.toFixed(2);
  });
  return { interval: undefined, text: each.length === 0 ? '–' : `${each.join(' and ')} ×` };
}

/** Returns the requests per second of each restart. */
export function restartRps(slices: readonly Slice[], variant: string): number[] {
  return byRestart(slices.filter((slice) => slice.variant === variant)).map((restart) => {
    const sum = (of: (slice: Slice) => number): number =>
      restart.reduce((total, slice) => total + of(slice), 0);
    return sum(({ requests }) => requests) / sum(({ seconds }) => seconds);
  });
}

function byRestart(slices: readonly Slice[]): Slice[][] {
  return [...Map.groupBy(slices, ({ restart }) => restart).values()];
}
