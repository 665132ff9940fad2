// `npm run bench -- verdicts-model`: the verdicts of `redline bench` on simulated runs, of servers whose costs are known.
// Counts copies that are reported as changed, changes of 5 % that are found, and intervals that contain the truth.
import { parseArgs } from 'node:util';
import { compareSlices, type Slice } from '@redline/lab';
import { generator, normal, writeSummary } from '../draws.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '300' },
    json: { type: 'string', default: 'redline-out/verdicts-model.json' },
  },
});

const turnsPerBlock = 8;
const requestMicros = 20;
const slower = 0.05;
const variants = ['server', 'server again', 'copy', 'twin'];
/** Max runs of a model whose hint is followed, because they are long. */
const maxFollowed = 40;

/** The shape of a run, and the behaviour of servers and machine, as shares of a request. */
interface Model {
  restarts: number;
  blocks: number;
  /** True if CPU is read in turns. */
  turns: boolean;
  /** Standard deviation between starts of one server. */
  startSpread: number;
  /** Share of passes, or slices, in which other work has the core's other half, and everything takes up to twice as long. */
  disturbed: number;
}

/** `--quick`, the default, and the default in turns. */
const shapes = [
  { restarts: 4, blocks: 3, turns: false },
  { restarts: 5, blocks: 10, turns: false },
  { restarts: 14, blocks: 3, turns: true },
];
const rows = [];
for (const shape of shapes) {
  for (const startSpread of [0.01, 0.02, 0.04, 0.08, 0.15]) {
    for (const disturbed of shape.turns ? [0.1, 0.5] : [0.1]) {
      const model = { ...shape, startSpread, disturbed };
      const row = { ...model, ...tally(model) };
      rows.push(row);
      process.stderr.write(`${JSON.stringify(row)}\n`);
    }
  }
}
writeSummary(values.json, {
  schema: 2,
  proof: 'verdicts-model',
  runs: Number(values.runs),
  slower,
  models: rows,
});

/** Returns shares of all runs; `hintsFollowed` is a count, and `hintsSettled` a share of it. */
function tally(model: Model) {
  const runs = Number(values.runs);
  const found = {
    copyChanged: 0,
    copySame: 0,
    twinChanged: 0,
    twinSame: 0,
    withheld: 0,
    intervalHoldsTruth: 0,
  };
  const hints = { hintsFollowed: 0, hintsSettled: 0 };
  for (let run = 0; run < runs; run++) {
    const slices = invent(model, generator(run));
    const judge = (variant: string) =>
      compareSlices(slices, { baseline: 'server', variant, seed: run, resamples: 1_000 });
    const [copy, twin] = [judge('copy'), judge('twin')];
    if (!copy.isTrusted) found.withheld++;
    else {
      if (copy.verdict === 'changed') found.copyChanged++;
      if (copy.verdict === 'same') found.copySame++;
      if (twin.verdict === 'changed') found.twinChanged++;
      if (twin.verdict === 'same') found.twinSame++;
      for (const [variant, { restartsToSettle }] of Object.entries({ copy, twin })) {
        if (restartsToSettle === undefined || hints.hintsFollowed >= maxFollowed) continue;
        hints.hintsFollowed++;
        if (isResolved(variant, { ...model, restarts: restartsToSettle }, run))
          hints.hintsSettled++;
      }
    }
    if (copy.ratio.low <= 1 && copy.ratio.high >= 1) found.intervalHoldsTruth++;
  }
  for (const key of Object.keys(found) as (keyof typeof found)[]) found[key] /= runs;
  hints.hintsSettled /= hints.hintsFollowed || 1;
  return { ...found, ...hints };
}

/** Makes another run of the same machine, with the length given by the hint. */
function isResolved(variant: string, model: Model, run: number): boolean {
  const slices = invent(model, generator(1_000_000 + run));
  const { verdict } = compareSlices(slices, {
    baseline: 'server',
    variant,
    seed: run,
    resamples: 300,
  });
  return verdict !== 'unresolved';
}

function invent(
  { restarts, blocks, turns: inTurns, startSpread, disturbed }: Model,
  random: () => number,
): Slice[] {
  const slices: Slice[] = [];
  for (let restart = 1; restart <= restarts; restart++) {
    const costs = variants.map(
      (name) =>
        requestMicros * (name === 'twin' ? 1 + slower : 1) * Math.exp(startSpread * normal(random)),
    );
    for (let block = 1; block <= blocks; block++) {
      const turns = variants.map((): NonNullable<Slice['turns']> => []);
      for (let pass = 0; pass < turnsPerBlock; pass++) {
        const slowed = random() < disturbed;
        for (const [at, cost] of costs.entries()) {
          // Half a per cent to either side, and a tail on one side: interrupts, collections, other processes.
          const noise = 0.005 * normal(random) - 0.02 * Math.log(1 - random());
          const micros = cost * (1 + noise) * (slowed ? 1 + random() : 1);
          turns[at]!.push({ requests: 2_000, cpuMicros: 2_000 * micros });
        }
      }
      for (const [at, variant] of variants.entries()) {
        // Without turns a slice is as long as five of them, with its own noise.
        const measured = inTurns
          ? { requests: 2_000, seconds: 0.1, cpuMicros: 100_000, turns: turns[at]! }
          : { seconds: 0.2, ...sumOf(turns[at]!.slice(0, 5)) };
        slices.push({ restart, block, variant, ...measured });
      }
    }
  }
  return slices;
}

function sumOf(turns: NonNullable<Slice['turns']>): Pick<Slice, 'requests' | 'cpuMicros'> {
  return {
    requests: turns.reduce((sum, { requests }) => sum + requests, 0),
    cpuMicros: turns.reduce((sum, { cpuMicros }) => sum + cpuMicros, 0),
  };
}
