// Labels and cells shared by the tables and the charts of deferred work.
import { type Interval, ratioBetween, type Slice } from '@redline/lab';
import type { GridResult, GridVariant } from '../defer-grid/grid-result.ts';
import { ratioText } from './format.ts';

export const platforms: Readonly<Record<string, string>> = {
  express: 'Express',
  fastify: 'Fastify',
};
export const sinks: Readonly<Record<string, string>> = {
  delay5: 'a sink that takes 5 ms',
  delay25: 'a sink that takes 25 ms',
  'redis-local': 'BullMQ, local Redis',
  'redis-2ms': 'BullMQ, Redis 2 ms away',
  'redis-10ms': 'BullMQ, Redis 10 ms away',
  'redis-25ms': 'BullMQ, Redis 25 ms away',
};
export const counts: readonly number[] = [10, 50, 100];

/** In the order of the tables; `plain` has no job. */
export const ways: readonly string[] = ['blocking', 'interceptor', 'memory', 'process', 'disk'];

export function isThere(result: GridResult, name: string): boolean {
  return result.variants.some((variant) => variant.name === name);
}

export function rpm({ rps }: GridVariant): string {
  return (rps * 60).toFixed(0).replaceAll(/\B(?=(\d{3})+$)/g, ' ');
}

/** Latency of the closed loop. */
export function latencyMs({ rps }: GridVariant, connections: number): string {
  return ((connections / rps) * 1_000).toFixed(1);
}

/** Min restarts for an interval. That of two restarts spans decades: their values tell more, and are shown instead. */
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
