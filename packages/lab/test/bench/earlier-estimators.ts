// A committed result keeps the figures of its day. These are the estimators since the first of them; the last is that of src.
import type { Interval } from '../../src/figures.ts';
import {
  cpuLevel,
  cpuMetric,
  type Metric,
  pairedRatio,
  type Pairing,
  rpsMetric,
} from '../../src/bench/paired-ratio.ts';
import type { Slice, Turn } from '../../src/bench/result.ts';
import { hasTurns } from '../../src/bench/turns-ratio.ts';
import { type Replicate, replicateInterval, resamples } from '../../src/stats/bootstrap.ts';
import {
  hodgesLehmann,
  mean,
  quantileOfSorted,
  lowestQuarterMean,
} from '../../src/stats/order-statistics.ts';
import { smallSampleTail } from '../../src/stats/small-sample.ts';
import { type Random, seededRandom } from '../../src/stats/random.ts';

export interface Estimator {
  /** Results that were begun before it. */
  until: string;
  /** The control takes part in what variants are compared with. */
  withControl: boolean;
  rps: (pairing: Pairing) => Interval;
  cpu: (pairing: Pairing) => Interval;
  level: (slices: readonly Slice[], names: readonly string[]) => Interval;
}

/** Of its own for each interval: none depends on those before it. */
const random = (): Random => seededRandom(1);

/** Over the replicates of all restarts. */
function ratioBy(
  metric: Metric,
  intervalOf: (replicates: readonly Replicate[]) => Interval,
): Estimator['cpu'] {
  return ({ slices, name, others }) => {
    const restarts = [...Map.groupBy(slices, ({ restart }) => restart).values()];
    const of = (restart: readonly Slice[], variant: string): Slice[] =>
      restart.filter((slice) => slice.variant === variant);
    return intervalOf(
      restarts.flatMap(
        (restart) =>
          metric(
            of(restart, name),
            others.map((other) => of(restart, other)),
          ) ?? [],
      ),
    );
  };
}

/** Restarts are drawn, and what was measured within each. */
function drawnTwice(
  centre: (values: readonly number[]) => number,
  tailOf: (restarts: number) => number,
  draws: number,
) {
  return (restarts: readonly Replicate[]): Interval => {
    const drawing = random();
    const one = (): number => restarts[Math.floor(drawing() * restarts.length)]!.redraw(drawing);
    const estimates = Float64Array.from({ length: draws }, () => centre(restarts.map(one))).sort();
    const tail = tailOf(restarts.length);
    return {
      value: Math.exp(centre(restarts.map(({ value }) => value))),
      low: Math.exp(quantileOfSorted(estimates, tail)),
      high: Math.exp(quantileOfSorted(estimates, 1 - tail)),
    };
  };
}

/** A level is of the turns of one server; `latest` has another since then. */
function byTurns(levelOf: (turns: readonly Turn[]) => number): Pick<Estimator, 'cpu' | 'level'> {
  const ratioOf = (rows: readonly Turn[][]): number => {
    const [own, ...beside] = rows[0]!.map((_, at) =>
      Math.log(levelOf(rows.map((row) => row[at]!))),
    );
    return mean(beside) - own!;
  };
  const metric: Metric = (own, others) => {
    const servers = [own, ...others];
    if (!servers.every(hasTurns)) return cpuMetric(own, others);
    // A row is a pass in which all were measured.
    const rows = own.flatMap(({ block }) => {
      const turns = servers.map(
        (slices) => slices.find((each) => each.block === block)?.turns ?? [],
      );
      const passes = Math.min(...turns.map(({ length }) => length));
      return Array.from({ length: passes }, (_, at) => turns.map((of) => of[at]!));
    });
    return {
      value: ratioOf(rows),
      redraw: (drawing) => ratioOf(rows.map(() => rows[Math.floor(drawing() * rows.length)]!)),
    };
  };
  return {
    cpu: ratioBy(metric, (replicates) => replicateInterval(replicates, random())),
    level(slices, names) {
      const own = slices.filter(({ variant }) => names.includes(variant));
      if (!hasTurns(own)) return cpuLevel(slices, names, random());
      const restarts = [...Map.groupBy(own, ({ restart }) => restart).values()];
      const levels = restarts.map((restart) => {
        const selves = [...Map.groupBy(restart, ({ variant }) => variant).values()];
        const logs = selves.map((self) =>
          Math.log(levelOf(self.flatMap(({ turns = [] }) => turns))),
        );
        return { value: mean(logs), redraw: () => mean(logs) };
      });
      return replicateInterval(levels, random());
    },
  };
}

const latest: Omit<Estimator, 'until'> = {
  withControl: true,
  rps: (pairing) => pairedRatio(pairing, rpsMetric, random()),
  cpu: (pairing) => pairedRatio(pairing, cpuMetric, random()),
  level: (slices, names) => cpuLevel(slices, names, random()),
};

function quarterOfWhole(turns: readonly Turn[]): number {
  return lowestQuarterMean(turns.map(({ cpuMicros, requests }) => cpuMicros / requests));
}

/** The main thread and the others by themselves, unless work moves between them. */
function quartersApart(turns: readonly Turn[]): number {
  const whole = quarterOfWhole(turns);
  const main = turns.map(({ mainThreadMicros = 0, requests }) => mainThreadMicros / requests);
  const others = turns.map(({ cpuMicros, requests }, at) => cpuMicros / requests - main[at]!);
  const apart = lowestQuarterMean(main) + lowestQuarterMean(others);
  return apart < 0.8 * whole ? whole : apart;
}

const ofMeans = drawnTwice(mean, () => 0.025, resamples / 4);
// The ends of three restarts are the farthest of all draws.
const ofCentres = drawnTwice(hodgesLehmann, smallSampleTail, resamples);

/** A slice had one turn. */
const oneTurn: Metric = (own, others) => {
  const turnOf = ({ turns, ...slice }: Slice): Slice => ({
    ...slice,
    ...(turns as unknown as Turn),
  });
  return cpuMetric(
    own.map(turnOf),
    others.map((other) => other.map(turnOf)),
  );
};

/** In the order of their days. One that no committed result needs can go. */
export const estimators: Estimator[] = [
  {
    ...latest,
    until: '2026-11-21T19:02',
    withControl: false,
    rps: ratioBy(rpsMetric, ofMeans),
    cpu: ratioBy(oneTurn, ofMeans),
  },
  {
    ...latest,
    until: '2026-11-22T08:50',
    rps: ratioBy(rpsMetric, ofCentres),
    cpu: ratioBy(cpuMetric, ofCentres),
  },
  { ...latest, until: '2026-11-24', ...byTurns(quarterOfWhole) },
  { ...latest, until: '2026-11-27T19:20', ...byTurns(quartersApart) },
  { ...latest, until: '9' },
];
