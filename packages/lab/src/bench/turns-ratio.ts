import type { Slice, Turn } from './result.ts';
import type { Replicate } from '../stats/bootstrap.ts';
import { quickQuarter } from '../stats/quick-quarter.ts';
import { mean } from '../stats/quantile.ts';

/** Whether CPU per request is to be read from turns: they are taken by all servers of a run or by none. */
export function hasTurns(slices: readonly Slice[]): boolean {
  return slices.some(({ turns }) => turns !== undefined);
}

/** µs per request of the main thread, and of all others, turn by turn. */
interface Parts {
  main: Float64Array;
  others: Float64Array;
}

/** µs per request over the turns of one restart. */
export function turnsLevel(slices: readonly Slice[]): number {
  return levelOf(partsOf(slices.flatMap(({ turns = [] }) => turns)));
}

/**
 * In recorded runs of servers on Node the quarters of the parts added up to 0.93 of that of whole turns, or more. Go moves its work
 * to and from the main thread: there the quarter of each part is of turns in which the other worked, and the sum was 0.02.
 */
const leastApart = 0.8;

/**
 * The mean of the lowest quarter, as what disturbs a turn only adds to it: of the main thread and of the others by themselves,
 * for the compiler and the collector work when they like, and would choose the turns of the main thread that count.
 */
function levelOf({ main, others }: Parts): number {
  const apart = quickQuarter(main) + quickQuarter(others);
  const whole = quickQuarter(main.map((micros, at) => micros + others[at]!));
  return apart < leastApart * whole ? whole : apart;
}

function partsOf(turns: readonly Turn[]): Parts {
  return {
    main: Float64Array.from(
      turns,
      ({ mainThreadMicros = 0, requests }) => mainThreadMicros / requests,
    ),
    others: Float64Array.from(
      turns,
      ({ cpuMicros, mainThreadMicros = 0, requests }) => (cpuMicros - mainThreadMicros) / requests,
    ),
  };
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
  const { length } = columns[0]!.main;
  if (length === 0) return undefined;
  const drawn = columns.map((): Parts => ({
    main: new Float64Array(length),
    others: new Float64Array(length),
  }));
  const ratioOf = ([level, ...beside]: readonly Parts[]): number =>
    mean(beside.map((other) => Math.log(levelOf(other)))) - Math.log(levelOf(level!));
  return {
    value: ratioOf(columns),
    redraw(random) {
      for (let i = 0; i < length; i++) {
        const row = Math.floor(random() * length);
        for (let at = 0; at < columns.length; at++) {
          drawn[at]!.main[i] = columns[at]!.main[row]!;
          drawn[at]!.others[i] = columns[at]!.others[row]!;
        }
      }
      return ratioOf(drawn);
    },
  };
}

/** One column for each server, one row for each pass in which all were measured. */
function simultaneous(servers: readonly (readonly Slice[])[]): Parts[] {
  const rows = servers[0]!.flatMap(({ block }) => {
    const turns = servers.map(
      (slices) => slices.find((slice) => slice.block === block)?.turns ?? [],
    );
    const passes = Math.min(...turns.map(({ length }) => length));
    return Array.from({ length: passes }, (_, pass) => turns.map((own) => own[pass]!));
  });
  return servers.map((_, at) => partsOf(rows.map((row) => row[at]!)));
}
