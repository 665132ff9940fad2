import type { Interval } from '../figures.ts';
import type { Slice } from './result.ts';
import { medianOf, type Replicate, replicateInterval } from '../stats/bootstrap.ts';
import { mean, median } from '../stats/order-statistics.ts';
import type { Random } from '../stats/random.ts';
import { hasTurns, turnsLevel, turnsRatio } from './turns-ratio.ts';

/** Compares a variant with others within one restart; above 0 is better. Undefined when there is nothing to compare. */
export type Metric = (
  own: readonly Slice[],
  others: readonly (readonly Slice[])[],
) => Replicate | undefined;

export const rpsMetric: Metric = (own, others) =>
  pairedBlocks(own, others, ({ requests, seconds }) => requests / seconds);

export const cpuMetric: Metric = (own, others) =>
  [own, ...others].every(hasTurns)
    ? turnsRatio(own, others)
    : pairedBlocks(own, others, ({ requests, cpuMicros }) => requests / cpuMicros);

/** Returns µs per request of all threads of the server, over the slices of one restart. */
export function cpuPerRequest(slices: readonly Slice[]): number {
  return hasTurns(slices)
    ? turnsLevel(slices)
    : median(slices.map(({ cpuMicros, requests }) => cpuMicros / requests));
}

/** A variant and the ones it is compared with, in the slices of one run. */
export interface Pairing {
  slices: readonly Slice[];
  name: string;
  /** Several are averaged: a baseline that runs twice is known better than one that runs once. */
  others: readonly string[];
}

export function pairedRatio(
  { slices, name, others }: Pairing,
  metric: Metric,
  random: Random,
  rounds?: number,
): Interval {
  const restarts = [...Map.groupBy(slices, ({ restart }) => restart).values()];
  const replicates = restarts.flatMap((restart) => {
    const of = (variant: string): Slice[] => restart.filter((slice) => slice.variant === variant);
    return metric(of(name), others.map(of)) ?? [];
  });
  return replicateInterval(replicates, random, rounds);
}

/**
 * Returns µs per request of all threads over restarts; its centre differs from that of `pairedRatio`, which also uses the others.
 */
export function cpuLevel(
  slices: readonly Slice[],
  names: readonly string[],
  random: Random,
): Interval {
  const restarts = Map.groupBy(
    slices.filter(({ variant }) => names.includes(variant)),
    ({ restart }) => restart,
  );
  const levels = [...restarts.values()].map((restart) =>
    Map.groupBy(restart, ({ variant }) => variant),
  );
  const replicates = levels.map((own) =>
    medianOf([mean([...own.values()].map((each) => Math.log(cpuPerRequest(each))))]),
  );
  return replicateInterval(replicates, random);
}

/** Takes the log ratios of the blocks in which all were measured. */
function pairedBlocks(
  own: readonly Slice[],
  others: readonly (readonly Slice[])[],
  merit: (slice: Slice) => number,
): Replicate | undefined {
  const logs = own.flatMap((slice) => {
    const beside = others.map((slices) => slices.find(({ block }) => block === slice.block));
    const log = mean(
      beside.map((other) => (other ? Math.log(merit(slice) / merit(other)) : Number.NaN)),
    );
    // A coarse clock can read no CPU at all for a short slice.
    return Number.isFinite(log) ? log : [];
  });
  return logs.length === 0 ? undefined : medianOf(logs);
}
