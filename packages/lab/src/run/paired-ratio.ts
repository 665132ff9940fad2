import type { Interval, Slice } from '../result.ts';
import { ratioInterval } from '../stats/bootstrap.ts';
import type { Random } from '../stats/random.ts';

/** What a slice is compared by. Above 1 is better than the other, for both. */
export type Metric = (variant: Slice, other: Slice) => number;

export const rpsMetric: Metric = (variant, other) =>
  variant.requests / variant.seconds / (other.requests / other.seconds);
export const cpuMetric: Metric = (variant, other) => cpuPerRequest(other) / cpuPerRequest(variant);

/** µs of all threads of the server. */
export function cpuPerRequest(slice: Slice): number {
  const { cpuMicros, requests } = slice.turns ?? slice;
  return cpuMicros / requests;
}

/** Ratio of two variants, paired block by block. */
export function pairedRatio(
  slices: readonly Slice[],
  name: string,
  otherName: string,
  metric: Metric,
  random: Random,
  rounds?: number,
): Interval {
  const others = new Map(
    slices
      .filter(({ variant }) => variant === otherName)
      .map((slice) => [`${slice.restart}/${slice.block}`, slice]),
  );
  const restarts = new Map<number, number[]>();
  for (const slice of slices) {
    if (slice.variant !== name) continue;
    const other = others.get(`${slice.restart}/${slice.block}`);
    if (other === undefined) continue;
    const log = Math.log(metric(slice, other));
    // A coarse clock can read no CPU at all for a short slice.
    if (!Number.isFinite(log)) continue;
    const logs = restarts.get(slice.restart) ?? [];
    logs.push(log);
    restarts.set(slice.restart, logs);
  }
  return ratioInterval([...restarts.values()], random, rounds);
}
