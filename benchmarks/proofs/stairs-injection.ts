// `npm run bench -- stairs-injection`: is a cost of known size found, in the stage it was put into? Runs `redline stairs`
// repeatedly on a chain of functions, three of which have a busy loop that makes the request 2, 5 and 20 µs more expensive;
// different ones in every run. All others do next to nothing, so any cost reported for them is false. A loop that runs for
// 20 µs costs a request half a µs more than that: the length of each loop is determined first, by switching loops on and
// off, without any cut (`npm run bench -- loop-cost`).
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeResult } from '../write-result.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '45' },
    /** Added to an existing file: ten runs need not be made in one session. */
    json: { type: 'string', default: 'redline-out/stairs-injection.json' },
    /** Duration of the runs that determine the lengths of the loops. */
    'loop-seconds': { type: 'string', default: '60' },
    fresh: { type: 'boolean', default: false },
  },
});

const app = join(import.meta.dirname, 'chain-app.mjs');
const stages = ['parse', 'authorise', 'select', 'price', 'rank', 'render'];
const amounts = [2, 5, 20];

interface Interval {
  value: number;
  low: number;
  high: number;
}

interface Run {
  injected: Record<string, number>;
  /** Length of the loop for each amount, in µs. */
  lengths: Record<string, number>;
  stages: { name: string; micros: Interval; verdict: string }[];
  whole: Interval;
  bandMicros: number;
  durationSeconds: number;
}

interface LoopCostFile {
  requestMicros: number;
  added: { loops: number[]; length: number; addedMicros: Interval }[];
}

interface StairsFile {
  stages: { name: string; micros: Interval; verdict: string }[];
  whole: { micros: Interval };
  precision: { bandMicros: number };
  durationSeconds: number;
  machine: object;
}

const before: Run[] =
  !values.fresh && existsSync(values.json)
    ? (JSON.parse(readFileSync(values.json, 'utf8')) as { runs: Run[] }).runs
    : [];
const runs = [...before];
let machine: object = {};
let loopCost: LoopCostFile | undefined;
const folder = mkdtempSync(join(tmpdir(), 'redline-injection-'));
try {
  const lengths = loopLengths();
  process.stdout.write(
    `loops of ${Object.values(lengths)
      .map((length) => length.toFixed(2))
      .join(', ')} µs add ${amounts.join(', ')} µs to a request\n`,
  );
  for (let count = 0; count < Number(values.runs); count++) {
    const run = measure(runs.length, lengths);
    runs.push(run);
    process.stdout.write(`run ${runs.length}: ${describe(run)}\n`);
    save();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.stdout.write(`\n${verdicts()}`);

/** Returns the lengths of the loops that add these amounts to a request. */
function loopLengths(): Record<string, number> {
  const file = join(folder, 'loop-cost.json');
  execFileSync(
    process.execPath,
    [
      join(import.meta.dirname, 'loop-cost.ts'),
      '--json',
      file,
      '--seconds',
      values['loop-seconds'],
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  loopCost = JSON.parse(readFileSync(file, 'utf8')) as LoopCostFile;
  const { added } = loopCost;
  return Object.fromEntries(
    amounts.map((amount) => {
      const { addedMicros } = added.find(
        ({ length, loops }) => length === amount && loops.length === 2,
      )!;
      return [amount, amount - (addedMicros.value - amount)];
    }),
  );
}

function measure(index: number, lengths: Record<string, number>): Run {
  const injected = Object.fromEntries(
    amounts.map((micros, at) => [stages[(index + at * 2) % stages.length]!, micros]),
  );
  const spins = Object.fromEntries(
    Object.entries(injected).map(([name, amount]) => [name, lengths[amount]]),
  );
  const file = join(folder, 'run.json');
  const url = 'http://127.0.0.1:47311/feed';
  execFileSync(
    'redline',
    // prettier-ignore
    ['stairs', url, '--seconds', values.seconds, '--json', file, '--out', folder, '--', 'node', app],
    {
      env: { ...process.env, SPIN: JSON.stringify(spins) },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const result = JSON.parse(readFileSync(file, 'utf8')) as StairsFile;
  ({ machine } = result);
  return {
    injected,
    lengths,
    stages: result.stages.map(({ name, micros, verdict }) => ({ name, micros, verdict })),
    whole: result.whole.micros,
    bandMicros: result.precision.bandMicros,
    durationSeconds: result.durationSeconds,
  };
}

/** Returns the functions without a loop, which do nothing else either. */
function wrappers({ injected, stages: measured }: Run): Run['stages'] {
  return measured.filter(({ name }) => stages.includes(name) && injected[name] === undefined);
}

function isFound(run: Run, amount: number): boolean {
  const stage = stageWith(run, amount);
  return stage !== undefined && stage.micros.low <= amount && stage.micros.high >= amount;
}

function stageWith(
  { injected, stages: measured }: Run,
  amount: number,
): Run['stages'][number] | undefined {
  const [name] = Object.entries(injected).find(([, micros]) => micros === amount)!;
  return measured.find((each) => each.name === name);
}

/** Returns the lowest and the highest reading, in µs. */
function readings(amount: number): [number, number] {
  const read = runs.flatMap((run) => stageWith(run, amount)?.micros.value ?? []);
  return [Math.min(...read), Math.max(...read)];
}

function describe(run: Run): string {
  const found = Object.entries(run.injected).map(([name, amount]) => {
    const stage = run.stages.find((each) => each.name === name);
    if (stage === undefined) return `${amount} µs in ${name}: no such stage`;
    const { value, low, high } = stage.micros;
    return `${amount} µs in ${name}: ${value.toFixed(2)} [${low.toFixed(2)}, ${high.toFixed(2)}]`;
  });
  const half = widest(run);
  return `${found.join('; ')}; widest stage ± ${(half * 100).toFixed(2)} %`;
}

/** Half-width of the widest stage, as a share of the request. */
function widest({ stages: measured, whole }: Run): number {
  return Math.max(...measured.map(({ micros }) => (micros.high - micros.low) / 2)) / whole.value;
}

function summary(): object {
  const all = runs.flatMap(wrappers);
  const flagged = all.filter(({ verdict }) => verdict === 'changed');
  const widths = runs.map(widest);
  return {
    runs: runs.length,
    requestMicros: mean(runs.map(({ whole }) => whole.value)),
    found: Object.fromEntries(
      amounts.map((amount) => [`${amount} µs`, runs.filter((run) => isFound(run, amount)).length]),
    ),
    read: Object.fromEntries(amounts.map((amount) => [`${amount} µs`, readings(amount)])),
    zeroCostStages: all.length,
    falselyFlagged: flagged.length,
    widestStageShare: Math.max(...widths),
    runsWithin15Permille: widths.filter((width) => width <= 0.015).length,
    longestSeconds: Math.max(...runs.map(({ durationSeconds }) => durationSeconds)),
  };
}

function save(): void {
  const file = {
    schema: 1,
    proof: 'stairs-injection',
    machine,
    summary: summary(),
    loopCost,
    runs,
  };
  writeResult(values.json, file);
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
}

function verdicts(): string {
  return `${JSON.stringify(summary(), undefined, 2)}\n`;
}
