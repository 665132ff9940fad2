import type { Slice, Turn } from './result.ts';
import type { Replicate } from '../stats/bootstrap.ts';
import { lowestMean, mean } from '../stats/order-statistics.ts';

/** Returns true if CPU per request is read from turns: all servers of a run take them, or none. */
export function hasTurns(slices: readonly Slice[]): boolean {
  return slices.some(({ turns }) => turns !== undefined);
}

/** µs per request of the main thread, and of all others, turn by turn. */
interface Parts {
  main: Float64Array;
  others: Float64Array;
}

/** Returns µs per request over the turns of one restart. */
export function turnsLevel(slices: readonly Slice[]): number {
  return levelOf(partsOf(slices.flatMap(({ turns = [] }) => turns)));
}

/**
 * In recorded runs of servers on Node, the levels of the parts added up to 0.85 or more of the level of whole turns. Go moves its
 * work to and from the main thread: there, the level of each part comes from turns in which the other worked, and the sum was 0.45.
 */
const minPartsShare = 0.7;
/**
 * Shares of the turns that count. A disturbance only adds to a turn, but most disturbed turns are measured again (see
 * `SteadyCore`): for the main thread half can count, and starts of one server differ by a tenth to a quarter less than with the
 * lowest quarter. The compiler and the collector work on the other threads, at any time.
 */
const shares = { main: 1 / 2, others: 1 / 4 };

/** Takes the main thread and the others separately: otherwise the compiler would choose the turns of the main thread that count. */
function levelOf({ main, others }: Parts): number {
  const apart = lowestMean(main, shares.main) + lowestMean(others, shares.others);
  const whole = lowestMean(
    main.map((micros, at) => micros + others[at]!),
    shares.main,
  );
  return apart < minPartsShare * whole ? whole : apart;
}

/** Counts everything as main thread if the threads cannot be told apart. */
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
 * Returns the log ratio of the levels of one restart. Turns taken at the same time are drawn together: what disturbed one server
 * most likely disturbed the others as well.
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

/** Returns one column for each server, with one row for each pass in which all were measured. */
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
