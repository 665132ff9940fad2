// `npm run bench -- verdicts-model`: the verdicts of `redline bench` on runs that are made up, of servers of which all is
// known. How often is a copy said to be changed, how often is 5 % found, and how often does the interval hold the truth?
import { parseArgs } from 'node:util';
import { compareSlices, type Slice } from '@redline/lab';
import { generator, normal, writeSummary } from '../draws.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '200' },
    blocks: { type: 'string', default: '3' },
    json: { type: 'string', default: 'redline-out/verdicts-model.json' },
  },
});

const turnsPerBlock = 8;
const requestMicros = 20;
const slower = 0.05;
const variants = ['server', 'server again', 'copy', 'twin'];

/** What servers and machine do, as shares of a request. */
interface Model {
  restarts: number;
  /** Standard deviation between starts of one server. */
  startSpread: number;
  /** Of passes in which something else has the core's other half, and everything takes up to twice as long. */
  disturbed: number;
}

const rows = [];
for (const restarts of [5, 8, 14]) {
  for (const [startSpread, disturbed] of [
    [0.01, 0.1],
    [0.02, 0.1],
    [0.02, 0.5],
    [0.04, 0.5],
  ] as const) {
    const model = { restarts, startSpread, disturbed };
    const row = { ...model, ...tally(model) };
    rows.push(row);
    process.stderr.write(`${JSON.stringify(row)}\n`);
  }
}
writeSummary(values.json, {
  schema: 1,
  proof: 'verdicts-model',
  runs: Number(values.runs),
  blocksPerRestart: Number(values.blocks),
  slower,
  models: rows,
});

/** Shares of all runs. */
function tally(model: Model) {
  const runs = Number(values.runs);
  const found = { copyChanged: 0, twinChanged: 0, withheld: 0, intervalHoldsTruth: 0 };
  for (let run = 0; run < runs; run++) {
    const slices = invent(model, generator(run));
    const judge = (variant: string) =>
      compareSlices(slices, { baseline: 'server', variant, seed: run, resamples: 1_000 });
    const [copy, twin] = [judge('copy'), judge('twin')];
    if (copy.controlVerdict !== 'same') found.withheld++;
    else {
      if (copy.verdict === 'changed') found.copyChanged++;
      if (twin.verdict === 'changed') found.twinChanged++;
    }
    if (copy.ratio.low <= 1 && copy.ratio.high >= 1) found.intervalHoldsTruth++;
  }
  for (const key of Object.keys(found) as (keyof typeof found)[]) found[key] /= runs;
  return found;
}

function invent({ restarts, startSpread, disturbed }: Model, random: () => number): Slice[] {
  const slices: Slice[] = [];
  for (let restart = 1; restart <= restarts; restart++) {
    const costs = variants.map(
      (name) =>
        requestMicros * (name === 'twin' ? 1 + slower : 1) * Math.exp(startSpread * normal(random)),
    );
    for (let block = 1; block <= Number(values.blocks); block++) {
      const turns = variants.map((): NonNullable<Slice['turns']> => []);
      for (let pass = 0; pass < turnsPerBlock; pass++) {
        const slowed = random() < disturbed;
        for (const [at, cost] of costs.entries()) {
          // Half a per cent to either side, and a tail to one: interrupts, collections, other processes.
          const noise = 0.005 * normal(random) - 0.02 * Math.log(1 - random());
          const micros = cost * (1 + noise) * (slowed ? 1 + random() : 1);
          turns[at]!.push({ requests: 2_000, cpuMicros: 2_000 * micros });
        }
      }
      for (const [at, variant] of variants.entries()) {
        const measured = { requests: 2_000, seconds: 0.1, cpuMicros: 100_000 };
        slices.push({ restart, block, variant, ...measured, turns: turns[at]! });
      }
    }
  }
  return slices;
}
