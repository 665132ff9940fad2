import type { Interval, Verdict } from '../figures.ts';
import { resamples } from '../stats/bootstrap.ts';
import { holm } from '../stats/holm.ts';
import {
  combine,
  intervalOf,
  type Level,
  lowestQuarterMean,
  normalTail,
  resampleLevels,
  type Round,
  standardError,
} from '../stats/location.ts';
import { normal, type Random } from '../stats/random.ts';
import { defaultMargin } from '../stats/verdict.ts';
import { type CutSlice, whole, wholeAgain } from './preload/protocol.ts';

/** Min number of requests that shows the cost of one. */
const minRequests = 20;
/**
 * Half-width of the 95 % interval, as a share of the request: a cut is a comparison and an exit in the middle of a function, which
 * is therefore compiled and laid out slightly differently. Functions that do nothing read as much as this, with either sign,
 * however long they are measured.
 */
const layoutShare = 0.005;
/** Smaller costs, as a share of the request, cannot be distinguished from accidents of code layout. */
const smallestBand = 2 * layoutShare;
/** A control entirely outside this share of the request shows that something disturbed the run. */
const controlBand = 0.01;

export interface StairsEstimates {
  /** Cost of ending a request at each cut, in µs; it is subtracted. */
  endings: number[];
  /** Cost of the request before its first cut. */
  floor: Interval;
  /** One per cut: the cost between its entry and the next one's. */
  steps: { micros: Interval; verdict: Verdict }[];
  /** Cost of the request if it ends at each cut. */
  levels: Interval[];
  whole: Interval;
  processMicros: number;
  control: Interval;
  controlVerdict: Verdict;
  bandMicros: number;
  voidSlices: number;
}

/**
 * @param restarts Slices of each restart of the server.
 * @param cuts In the order of the request, without the whole ones.
 * @param endings Slices in which the ending of requests at each cut was timed.
 */
export function estimateStairs(
  restarts: readonly (readonly CutSlice[])[],
  cuts: readonly number[],
  endings: readonly CutSlice[],
  random: Random,
): StairsEstimates {
  const leaving = endingCosts(cuts, endings, random);
  const columns = resampleLevels(
    restarts.map((slices) => byRound(slices)),
    [...cuts, whole, wholeAgain],
    random,
  );
  const wholeLevel = combine(
    [columns.get(whole)!, columns.get(wholeAgain)!],
    (a, b) => (a + b) / 2,
  );
  const control = intervalOf(combine([columns.get(wholeAgain)!, columns.get(whole)!], minus));
  // A cut includes the cost of ending the request; the whole request does not.
  const levels = [
    ...cuts.map((cut) => combine([columns.get(cut)!, leaving.get(cut)!], minus)),
    wholeLevel,
  ];
  const steps = cuts.map((_, index) =>
    withLayoutError(
      combine([levels[index + 1]!, levels[index]!], minus),
      layoutShare * wholeLevel.value,
      random,
    ),
  );
  const reach = Math.max(Math.abs(control.low), Math.abs(control.high));
  const bandMicros = Math.max(smallestBand * wholeLevel.value, reach);
  const all = restarts.flat();
  return {
    endings: cuts.map((cut) => leaving.get(cut)!.value),
    floor: intervalOf(levels[0]!),
    steps: judge(steps, bandMicros, defaultMargin * wholeLevel.value),
    levels: levels.slice(0, -1).map(intervalOf),
    whole: intervalOf(wholeLevel),
    processMicros: lowestQuarterMean(
      all
        .filter((slice) => slice.cut >= whole && isUsable(slice))
        .map((slice) => slice.cpuMicros / slice.requests),
    ),
    control,
    controlVerdict: judgeControl(control, wholeLevel.value),
    bandMicros,
    voidSlices: all.filter((slice) => !isUsable(slice)).length,
  };
}

/**
 * Returns the cost of ending a request at each cut; zero if no request reported its end, as the code after that cut then ran as
 * usual.
 */
function endingCosts(
  cuts: readonly number[],
  endings: readonly CutSlice[],
  random: Random,
): Map<number, Level> {
  const rounds = [...Map.groupBy(endings, ({ round }) => round).values()].map(
    (slices) =>
      new Map(
        slices.flatMap(({ cut, endingMicros }) =>
          endingMicros === undefined ? [] : [[cut, endingMicros] as const],
        ),
      ),
  );
  const columns = resampleLevels([rounds], cuts, random);
  const none: Level = { value: 0, resampled: new Float64Array(resamples) };
  return new Map(
    cuts.map((cut) => {
      const level = columns.get(cut)!;
      return [cut, Number.isNaN(level.value) ? none : filled(level)];
    }),
  );
}

/** Replaces missing values: a draw may contain none of the few rounds in which the ending was timed. */
function filled({ value, resampled }: Level): Level {
  return { value, resampled: resampled.map((each) => (Number.isNaN(each) ? value : each)) };
}

/**
 * Judges that a stage costs something if its cost exceeds the band, with the chance of even one false positive held at 5 %. It
 * costs nothing if its interval contains 0 and lies within the margin, which no noise widens.
 */
function judge(
  steps: readonly Level[],
  band: number,
  margin: number,
): { micros: Interval; verdict: Verdict }[] {
  const beyond = holm(
    steps.map((step) =>
      // Two-sided: a stage whose cut costs more than continuing is a finding, too.
      Math.min(1, 2 * normalTail((Math.abs(step.value) - band) / standardError(step))),
    ),
  );
  return steps.map((step, index) => {
    const micros = intervalOf(step);
    const isOutside = micros.low > band || micros.high < -band;
    const isNothing = isNegligible(micros, margin);
    const verdict = isNothing ? 'same' : isOutside && beyond[index] ? 'changed' : 'unresolved';
    return { micros, verdict };
  });
}

function isNegligible({ low, high }: Interval, margin: number): boolean {
  return low <= 0 && high >= 0 && low >= -margin && high <= margin;
}

/** Returns `changed` if something disturbed the run: the difference it shows cannot be real. */
function judgeControl(control: Interval, request: number): Verdict {
  const band = controlBand * request;
  if (control.low > band || control.high < -band) return 'changed';
  return isNegligible(control, defaultMargin * request) ? 'same' : 'unresolved';
}

/** Adds an uncertainty that more slices cannot remove. */
function withLayoutError({ value, resampled }: Level, half: number, random: Random): Level {
  const deviation = half / 1.96;
  return { value, resampled: resampled.map((each) => each + deviation * normal(random)) };
}

function byRound(slices: readonly CutSlice[]): Round[] {
  const rounds = new Map<number, Map<number, number>>();
  for (const slice of slices) {
    const round = rounds.get(slice.round) ?? new Map<number, number>();
    rounds.set(slice.round, round);
    if (isUsable(slice)) round.set(slice.cut, slice.threadMicros / slice.requests);
  }
  return [...rounds.values()];
}

function minus(a: number, b: number): number {
  return a - b;
}

function isUsable({ requests, threadMicros }: CutSlice): boolean {
  return requests >= minRequests && threadMicros > 0;
}
