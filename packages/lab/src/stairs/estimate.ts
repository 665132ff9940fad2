import type { Interval, Verdict } from '../result.ts';
import { holm } from '../stats/holm.ts';
import { type Estimation, normalTail, typicalInterval } from '../stats/location.ts';
import { mean } from '../stats/quantile.ts';
import type { Random } from '../stats/random.ts';
import { atArrival, atArrivalFree, type CutSlice, whole, wholeAgain } from './preload/protocol.ts';

/** Fewer requests than this say nothing of what one costs. */
const leastRequests = 20;
/** Smaller costs come and go with the layout of code alone, as a share of the request. */
const smallestBand = 0.005;
/** A control that lies wholly outside this share of the request says that something disturbed the run. */
const controlBand = 0.01;

export interface StairsEstimates {
  /** What ending a request costs by itself: in every cut, and taken off again. */
  ending: Interval;
  /** What the request costs before its first cut. */
  floor: Interval;
  /** One for each cut: what lies between its entry and the next one's. */
  steps: { micros: Interval; verdict: Verdict }[];
  /** What the request costs when it ends at each cut. */
  levels: Interval[];
  whole: Interval;
  processMicros: number;
  control: Interval;
  controlVerdict: Verdict;
  bandMicros: number;
  voidSlices: number;
}

/** Slices of one restart, by round and cut. */
type Round = Map<number, number>;

/**
 * @param restarts Slices of each restart of the server.
 * @param cuts In the order of the request, without the whole ones.
 * @param endings Slices that ended every request as it arrived, with and without the cost of ending it.
 */
export function estimateStairs(
  restarts: readonly (readonly CutSlice[])[],
  cuts: readonly number[],
  endings: readonly CutSlice[],
  random: Random,
): StairsEstimates {
  const rounds = restarts.map((slices) => byRound(slices));
  const ending = endingCost(endings, random);
  const level = (cut: number): number[][] => series(rounds, (round) => round.get(cut));
  const wholeLevel = series(rounds, wholeOf);
  const wholeEstimate = typicalInterval(wholeLevel, random).interval;
  const control = typicalInterval(
    series(rounds, (round) => minus(round.get(wholeAgain), round.get(whole))),
    random,
  ).interval;
  const reach = Math.max(Math.abs(control.low), Math.abs(control.high));
  const bandMicros = Math.max(smallestBand * wholeEstimate.value, reach);
  const differences = cuts.map((cut, index) =>
    typicalInterval(
      series(rounds, (round) => {
        if (index + 1 < cuts.length) return minus(round.get(cuts[index + 1]!), round.get(cut));
        // The whole request was not ended.
        const last = minus(wholeOf(round), round.get(cut));
        return last === undefined ? undefined : last + ending.value;
      }),
      random,
    ),
  );
  const levels = cuts.map((cut) =>
    less(typicalInterval(level(cut), random).interval, ending.value),
  );
  const all = restarts.flat();
  return {
    ending,
    floor: levels[0]!,
    steps: judge(differences, bandMicros),
    levels,
    whole: wholeEstimate,
    processMicros: mean(
      all
        .filter((slice) => slice.cut >= whole && isUsable(slice))
        .map((slice) => slice.cpuMicros / slice.requests),
    ),
    control,
    controlVerdict: judgeControl(control, wholeEstimate.value * controlBand),
    bandMicros,
    voidSlices: all.filter((slice) => !isUsable(slice)).length,
  };
}

function endingCost(endings: readonly CutSlice[], random: Random): Interval {
  const pairs = series([byRound(endings)], (round) =>
    minus(round.get(atArrival), round.get(atArrivalFree)),
  );
  return pairs.length === 0
    ? { value: 0, low: 0, high: 0 }
    : typicalInterval(pairs, random).interval;
}

/** A stage costs something when its cost exceeds the band, with the chance of even one false call held at 5 %. */
function judge(
  differences: readonly Estimation[],
  band: number,
): { micros: Interval; verdict: Verdict }[] {
  const beyond = holm(
    differences.map(({ interval, standardError }) =>
      // Both sides: a stage whose cut costs more than going on is as much of a finding.
      Math.min(1, 2 * normalTail((Math.abs(interval.value) - band) / standardError)),
    ),
  );
  return differences.map(({ interval }, index) => {
    const isOutside = interval.low > band || interval.high < -band;
    const isInside = interval.low >= -band && interval.high <= band;
    const verdict = isInside ? 'same' : isOutside && beyond[index] ? 'changed' : 'unresolved';
    return { micros: interval, verdict };
  });
}

function judgeControl(control: Interval, band: number): Verdict {
  if (control.low <= 0 && control.high >= 0) return 'same';
  return control.low > band || control.high < -band ? 'changed' : 'same';
}

function byRound(slices: readonly CutSlice[]): Round[] {
  const rounds = new Map<number, Round>();
  for (const slice of slices) {
    const round: Round = rounds.get(slice.round) ?? new Map<number, number>();
    rounds.set(slice.round, round);
    if (isUsable(slice)) round.set(slice.cut, slice.threadMicros / slice.requests);
  }
  return [...rounds.values()];
}

function series(
  restarts: readonly (readonly Round[])[],
  value: (round: Round) => number | undefined,
): number[][] {
  return restarts
    .map((rounds) => rounds.map(value).filter((each) => each !== undefined))
    .filter((values) => values.length > 0);
}

function wholeOf(round: Round): number | undefined {
  const values = [round.get(whole), round.get(wholeAgain)].filter((each) => each !== undefined);
  return values.length === 0 ? undefined : mean(values);
}

function less({ value, low, high }: Interval, by: number): Interval {
  return { value: value - by, low: low - by, high: high - by };
}

function minus(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : a - b;
}

function isUsable({ requests, threadMicros }: CutSlice): boolean {
  return requests >= leastRequests && threadMicros > 0;
}
