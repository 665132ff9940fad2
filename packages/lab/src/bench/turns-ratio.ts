import type { Slice, Turn } from './result.ts';
import type { Replicate } from '../stats/bootstrap.ts';
import { lowestMean } from '../stats/quick-quarter.ts';
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
 * In recorded runs of servers on Node the levels of the parts added up to 0.85 of that of whole turns, or more. Go moves its work
 * to and from the main thread: there the level of each part is of turns in which the other worked, and the sum was 0.45.
 */
const leastApart = 0.7;
/**
 * Of the turns that count. What disturbs a turn only adds to it, but most of that is measured again (see `Undisturbed`): of the main
 * thread half can count, and starts of one server differ by a tenth to a quarter less than by the lowest quarter. The compiler and
 * the collector work on the other threads, when they like.
 */
const shares = { main: 1 / 2, others: 1 / 4 };

/** The main thread and the others by themselves: the compiler would choose the turns of the main thread that count. */
function levelOf({ main, others }: Parts): number {
  const apart = lowestMean(main, shares.main) + lowestMean(others, shares.others);
  const whole = lowestMean(
    main.map((micros, at) => micros + others[at]!),
    shares.main,
  );
  return apart < leastApart * whole ? whole : apart;
}

/** Where the threads cannot be told apart, all is of the main thread. */
function partsOf(turns: readonly Turn[]): Parts {
  return {
    main: Float64Array.from(
      turns,
      ({ cpuMicros, mainThreadMicros = cpuMicros, requests }) => mainThreadMicros / requests,
    ),
    others: Float64Array.from(
      turns,
      ({ cpuMicros, mainThreadMicros = cpuMicros, requests }) =>
        (cpuMicros - mainThreadMicros) / requests,
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
