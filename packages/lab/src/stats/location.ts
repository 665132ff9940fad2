import type { Interval } from '../figures.ts';
import { mean, quantileOfSorted, lowestQuarterMean } from './order-statistics.ts';
import { resamples } from './bootstrap.ts';
import { tQuantile, z } from './small-sample.ts';
import { normal, type Random } from './random.ts';

export { normalTail } from './small-sample.ts';
export { lowestQuarterMean } from './order-statistics.ts';

/** One round: the measurement of each column; a missing one was void. */
export type Round = ReadonlyMap<number, number>;

/** Typical value of a column, and its variation if the run were repeated. */
export interface Level {
  value: number;
  /** One value per resample. The same index of two levels is the same resample. */
  resampled: Float64Array;
}

/**
 * Takes the mean of the lowest quarter of each column within a restart, and the mean over restarts. A single restart is resampled
 * by drawing whole rounds, so that whatever two columns share stays in both; several restarts as in `wildBootstrap`.
 */
export function resampleLevels(
  restarts: readonly (readonly Round[])[],
  columns: readonly number[],
  random: Random,
  count: number = resamples,
): Map<number, Level> {
  const tables = restarts.map((rounds) =>
    columns.map((column) => Float64Array.from(rounds, (round) => round.get(column) ?? Number.NaN)),
  );
  const levels = columns.map((): Level => ({
    value: Number.NaN,
    resampled: new Float64Array(count),
  }));
  columns.forEach((column, at) => {
    const perRestart = restarts.map((rounds) =>
      lowestQuarterMean(
        rounds.map((round) => round.get(column)).filter((value) => value !== undefined),
      ),
    );
    levels[at]!.value = mean(perRestart.filter((value) => !Number.isNaN(value)));
  });
  if (restarts.length > 1) {
    const draws = normalDraws(restarts.length, count, random);
    columns.forEach((_, at) => {
      const perRestart = tables.map((table) =>
        lowestQuarterMean(table[at]!.filter((value) => !Number.isNaN(value))),
      );
      levels[at]!.resampled = wildBootstrap(perRestart, levels[at]!.value, draws);
    });
    return new Map(columns.map((column, at) => [column, levels[at]!]));
  }
  const rows: number[] = [];
  const buffer = new Float64Array(Math.max(0, ...restarts.map(({ length }) => length)));
  for (let index = 0; index < count; index++) {
    const [table = []] = tables;
    const length = table[0]?.length ?? 0;
    for (let i = 0; i < length; i++) rows[i] = Math.floor(random() * length);
    for (let at = 0; at < table.length; at++)
      levels[at]!.resampled[index] = drawnLowestQuarterMean(table[at]!, rows, length, buffer);
  }
  const times = expansion(restarts[0]?.length ?? 0);
  for (const { value, resampled } of levels) {
    for (let index = 0; index < count; index++)
      resampled[index] = value + (resampled[index]! - value) * times;
  }
  return new Map(columns.map((column, at) => [column, levels[at]!]));
}

/**
 * Returns the factor by which a few rounds may be farther from the truth than draws of them are from each other, like
 * `smallSampleTail` for restarts. The values left out of a lowest quarter say little about its spread: in simulations, three
 * quarters of the rounds count as degrees of freedom. Plain intervals of stages held the truth 78 times in a hundred with four
 * rounds, and 86 times with eight.
 */
function expansion(rounds: number): number {
  if (rounds < 2) return 1;
  const degrees = Math.max(1, Math.ceil(rounds * 0.75) - 1);
  return (Math.sqrt(rounds / (rounds - 1)) * tQuantile(degrees)) / z;
}

/** Draws one normal deviate for each restart and resample, the same for all columns. */
function normalDraws(restarts: number, count: number, random: Random): Float64Array[] {
  return Array.from({ length: restarts }, () =>
    Float64Array.from({ length: count }, () => normal(random)),
  );
}

/**
 * Resamples the mean of a few restarts: each restart's distance from it times a deviate (the wild bootstrap; Wu 1986), as wide as
 * Student's t for that many. With five restarts drawn with replacement, intervals held the truth 83 times in a hundred. It is
 * linear, so differences of columns are resampled like the columns.
 */
function wildBootstrap(
  perRestart: readonly number[],
  centre: number,
  draws: readonly Float64Array[],
): Float64Array {
  const count = perRestart.filter((value) => !Number.isNaN(value)).length;
  const scale =
    count < 2 ? 0 : (tQuantile(count - 1) / z / Math.sqrt(count)) * Math.sqrt(1 / (count - 1));
  const resampled = new Float64Array(draws[0]!.length).fill(centre);
  perRestart.forEach((value, restart) => {
    if (Number.isNaN(value)) return;
    const distance = (value - centre) * scale;
    for (let index = 0; index < resampled.length; index++)
      resampled[index]! += distance * draws[restart]![index]!;
  });
  return resampled;
}

function drawnLowestQuarterMean(
  column: Float64Array,
  rows: readonly number[],
  length: number,
  buffer: Float64Array,
): number {
  let found = 0;
  for (let i = 0; i < length; i++) {
    const value = column[rows[i]!]!;
    if (!Number.isNaN(value)) buffer[found++] = value;
  }
  return lowestQuarterMean(buffer.subarray(0, found));
}

/** Returns the 95 % percentile interval. */
export function intervalOf({ value, resampled }: Level): Interval {
  const sorted = resampled.filter((each) => !Number.isNaN(each)).sort();
  return { value, low: quantileOfSorted(sorted, 0.025), high: quantileOfSorted(sorted, 0.975) };
}

/** Returns the spread of the estimate, for normal approximations. */
export function standardError({ resampled }: Level): number {
  const values = [...resampled].filter((each) => !Number.isNaN(each));
  const centre = mean(values);
  return Math.sqrt(mean(values.map((each) => (each - centre) ** 2)));
}

/** Combines levels that were resampled together, e.g. into a difference or a mean. */
export function combine(levels: readonly Level[], of: (...values: number[]) => number): Level {
  const resampled = Float64Array.from(levels[0]!.resampled, (_, index) =>
    of(...levels.map((level) => level.resampled[index]!)),
  );
  return { value: of(...levels.map(({ value }) => value)), resampled };
}
