import type { Slice, Turn } from './result.ts';
import type { Replicate } from '../stats/bootstrap.ts';
import { quickQuarter } from '../stats/quick-quarter.ts';
import { mean } from '../stats/quantile.ts';

/** Whether CPU per request is to be read from turns: they are taken by all servers of a run or by none. */
export function hasTurns(slices: readonly Slice[]): boolean {
  return slices.some(({ turns }) => turns !== undefined);
}

/** µs per request over the turns of one restart: the mean of their lowest quarter, as what disturbs a turn only adds to it. */
export function turnsLevel(slices: readonly Slice[]): number {
  return quickQuarter(slices.flatMap(({ turns = [] }) => turns.map(perRequest)));
}

/**
 * Log ratio of the levels of one restart. Turns that were taken at the same time are drawn together: what disturbed one
 * server most likely disturbed the others as well.
 */
export function turnsRatio(
  own: readonly Slice[],
  others: readonly (readonly Slice[])[],
): Replicate | undefined {
  const columns = simultaneous([own, ...others]);
  const { length } = columns[0]!;
  if (length === 0) return undefined;
  const drawn = columns.map(() => new Float64Array(length));
  const ratioOf = ([level, ...beside]: readonly Float64Array[]): number =>
    mean(beside.map((other) => Math.log(quickQuarter(other)))) - Math.log(quickQuarter(level!));
  return {
    value: ratioOf(columns),
    redraw(random) {
      for (let i = 0; i < length; i++) {
        const row = Math.floor(random() * length);
        for (let at = 0; at < columns.length; at++) drawn[at]![i] = columns[at]![row]!;
      }
      return ratioOf(drawn);
    },
  };
}

/** One column for each server, one row for each pass in which all were measured. */
function simultaneous(servers: readonly (readonly Slice[])[]): Float64Array[] {
  const rows = servers[0]!.flatMap(({ block }) => {
    const turns = servers.map(
      (slices) => slices.find((slice) => slice.block === block)?.turns ?? [],
    );
    const passes = Math.min(...turns.map(({ length }) => length));
    return Array.from({ length: passes }, (_, pass) => turns.map((own) => perRequest(own[pass]!)));
  });
  return servers.map((_, at) => Float64Array.from(rows, (row) => row[at]!));
}

function perRequest({ cpuMicros, requests }: Turn): number {
  return cpuMicros / requests;
}
