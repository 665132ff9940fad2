import type { Interval } from '../figures.ts';
import type { Slice } from './result.ts';
import {
  medianOf,
  type Replicate,
  replicateInterval,
  studentInterval,
} from '../stats/bootstrap.ts';
import { borrowSpread } from '../stats/borrowed-spread.ts';
import { mean, median } from '../stats/quantile.ts';
import type { Random } from '../stats/random.ts';
import { hasTurns, turnsLevel, turnsRatio } from './turns-ratio.ts';

export interface Metric {
  /** What one restart says of a variant against others, above 0 is better. Undefined when there is nothing to compare. */
  ratio(own: readonly Slice[], others: readonly (readonly Slice[])[]): Replicate | undefined;
  /** What one restart says of a variant alone. */
  level(own: readonly Slice[]): number;
}

export const rpsMetric: Metric = {
  ratio: (own, others) => pairedBlocks(own, others, rpsOf),
  level: (own) => median(own.map(rpsOf)),
};

export const cpuMetric: Metric = {
  ratio: (own, others) =>
    [own, ...others].every(hasTurns)
      ? turnsRatio(own, others)
      : pairedBlocks(own, others, ({ requests, cpuMicros }) => requests / cpuMicros),
  level: cpuPerRequest,
};

function rpsOf({ requests, seconds }: Slice): number {
  return requests / seconds;
}

/** µs of all threads of the server, as the slices of one restart have it. */
export function cpuPerRequest(slices: readonly Slice[]): number {
  return hasTurns(slices)
    ? turnsLevel(slices)
    : median(slices.map(({ cpuMicros, requests }) => cpuMicros / requests));
}

/** A variant and what it is compared with, in the slices of one run. */
export interface Pairing {
  slices: readonly Slice[];
  name: string;
  /** Of several the mean: a baseline that runs twice is known better than one that runs once. */
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
    return metric.ratio(of(name), others.map(of)) ?? [];
  });
  const values = replicates.map(({ value }) => value);
  const borrowed = borrowedSpread({ slices, name, others }, metric);
  return borrowed?.restarts === values.length
    ? studentInterval(values, borrowed)
    : replicateInterval(replicates, random, rounds);
}

/**
 * Whether what starts vary by is estimated from all servers together: fewer than five say little of each other, two starts
 * show next to nothing of their spread, and ten enough of their own.
 */
export function isSpreadShared(servers: number, restarts: number): boolean {
  return servers >= 5 && restarts >= 3 && restarts <= 9;
}

interface BorrowedSpread {
  restarts: number;
  /** Of the log ratio of one restart. */
  variance: number;
  degrees: number;
}

/** How widely the ratios of a pairing vary, by what all servers of a run show; undefined where each has to speak for itself. */
function borrowedSpread(
  { slices, name, others }: Pairing,
  { level }: Metric,
): BorrowedSpread | undefined {
  const restarts = [...Map.groupBy(slices, ({ restart }) => restart).values()].map((restart) =>
    Map.groupBy(restart, ({ variant }) => variant),
  );
  const servers = [...(restarts[0]?.keys() ?? [])].filter((server) =>
    restarts.every((restart) => restart.has(server)),
  );
  if (!isSpreadShared(servers.length, restarts.length)) return undefined;
  if (![name, ...others].every((one) => servers.includes(one))) return undefined;
  const { variances, degrees } = borrowSpread(
    restarts.map((restart) => servers.map((server) => Math.log(level(restart.get(server)!)))),
  );
  const of = (server: string): number => variances[servers.indexOf(server)]!;
  const variance = of(name) + mean(others.map(of)) / others.length;
  return Number.isFinite(variance) ? { restarts: restarts.length, variance, degrees } : undefined;
}

/** µs of all threads for a request over restarts; the centre is not that of `pairedRatio`, which knows the others as well. */
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

/** The log ratios of the blocks in which all were measured. */
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
