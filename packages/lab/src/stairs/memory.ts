import type { Interval } from '../figures.ts';
import { mean, quantileOfSorted } from '../stats/order-statistics.ts';
import { type CutSlice, whole } from './preload/protocol.ts';

/** Memory of a stage, or of the whole request. The bounds of an interval are the lowest and the highest round. */
export interface MemoryFigures {
  /** Per request, in the heap and outside of it: the median of the rounds. */
  allocatedBytes: Interval;
  /** CPU of the garbage collector per request, in µs: the mean of the rounds, because collections are few and not alike. */
  collectorMicros: Interval;
  /** The collector's CPU as a share of that of the whole request, 0 to 1. */
  collectorShare: number;
}

export interface StairsMemory {
  /** The request before its first cut, then one for each cut. */
  stages: MemoryFigures[];
  whole: MemoryFigures;
}

/** With fewer requests, those that a slice holds in part are too many. */
const minRequests = 5;

/**
 * Computes the memory of each stage, as its CPU is: what a request takes that ends at the next cut, less what one takes that ends at
 * this one.
 * @param restarts Slices with memory, of each restart.
 * @returns undefined if there are none with enough requests
 */
export function memoryOf(
  restarts: readonly (readonly CutSlice[])[],
  cuts: readonly number[],
): StairsMemory | undefined {
  const rounds = restarts.flatMap((slices) => [
    ...Map.groupBy(slices.filter(isUsable), ({ round }) => round).values(),
  ]);
  const levels = [...cuts, whole];
  const complete = rounds
    .map((slices) => levels.map((cut) => slices.find((slice) => slice.cut === cut)))
    .filter((row) => row.every((slice) => slice !== undefined));
  if (complete.length === 0) return undefined;
  const micros = median(
    complete.map((row) => {
      const { threadMicros, requests } = row.at(-1)!;
      return threadMicros / requests;
    }),
  );
  const figures = (of: (row: readonly CutSlice[], key: Key) => number): MemoryFigures => {
    const allocatedBytes = spread(
      complete.map((row) => of(row, 'allocatedBytes')),
      median,
    );
    const collectorMicros = spread(
      complete.map((row) => of(row, 'collectorMicros')),
      mean,
    );
    return {
      allocatedBytes,
      collectorMicros,
      collectorShare: Math.max(0, collectorMicros.value) / micros,
    };
  };
  return {
    stages: levels.map((_, index) =>
      figures((row, key) => perRequest(row[index], key) - perRequest(row[index - 1], key)),
    ),
    whole: figures((row, key) => perRequest(row.at(-1), key)),
  };
}

type Key = 'allocatedBytes' | 'collectorMicros';

function perRequest(slice: CutSlice | undefined, key: Key): number {
  return slice === undefined ? 0 : slice[key]! / slice.requests;
}

function isUsable({ requests, allocatedBytes }: CutSlice): boolean {
  return requests >= minRequests && allocatedBytes !== undefined;
}

function spread(
  values: readonly number[],
  centre: (values: readonly number[]) => number,
): Interval {
  return { value: centre(values), low: Math.min(...values), high: Math.max(...values) };
}

function median(values: readonly number[]): number {
  return quantileOfSorted(
    values.toSorted((a, b) => a - b),
    0.5,
  );
}
