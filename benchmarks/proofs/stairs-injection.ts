// `npm run bench -- stairs-injection`: is a cost of known size found, in the stage it was put into?
// Runs `redline stairs` again and again on a chain of functions, three of which are busy for 2, 5 and 20 µs; in
// every run other ones. All others do next to nothing, so whatever they are said to cost is false.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '45' },
    /** Adds to what is there: ten runs need not be one sitting. */
    json: { type: 'string', default: 'redline-out/stairs-injection.json' },
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
  stages: { name: string; micros: Interval; verdict: string }[];
  whole: Interval;
  bandMicros: number;
  durationSeconds: number;
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
const folder = mkdtempSync(join(tmpdir(), 'redline-injection-'));
try {
  for (let count = 0; count < Number(values.runs); count++) {
    const run = measure(runs.length);
    runs.push(run);
    process.stdout.write(`run ${runs.length}: ${describe(run)}\n`);
    save();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.stdout.write(`\n${verdicts()}`);

function measure(index: number): Run {
  const injected = Object.fromEntries(
    amounts.map((micros, at) => [stages[(index + at * 2) % stages.length]!, micros]),
  );
  const file = join(folder, 'run.json');
  const url = 'http://127.0.0.1:47311/feed';
  execFileSync(
    'redline',
    // prettier-ignore
    ['stairs', url, '--seconds', values.seconds, '--json', file, '--out', folder, '--', 'node', app],
    {
      env: { ...process.env, SPIN: JSON.stringify(injected) },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const result = JSON.parse(readFileSync(file, 'utf8')) as StairsFile;
  ({ machine } = result);
  return {
    injected,
    stages: result.stages.map(({ name, micros, verdict }) => ({ name, micros, verdict })),
    whole: result.whole.micros,
    bandMicros: result.precision.bandMicros,
    durationSeconds: result.durationSeconds,
  };
}

/** The functions that spin not at all, and do nothing else either. */
function wrappers({ injected, stages: measured }: Run): Run['stages'] {
  return measured.filter(({ name }) => stages.includes(name) && injected[name] === undefined);
}

function isFound({ injected, stages: measured }: Run, amount: number): boolean {
  const [name] = Object.entries(injected).find(([, micros]) => micros === amount)!;
  const stage = measured.find((each) => each.name === name);
  return stage !== undefined && stage.micros.low <= amount && stage.micros.high >= amount;
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
    found: Object.fromEntries(
      amounts.map((amount) => [`${amount} µs`, runs.filter((run) => isFound(run, amount)).length]),
    ),
    zeroCostStages: all.length,
    falselyFlagged: flagged.length,
    widestStageShare: Math.max(...widths),
    runsWithin15Permille: widths.filter((width) => width <= 0.015).length,
    longestSeconds: Math.max(...runs.map(({ durationSeconds }) => durationSeconds)),
  };
}

function save(): void {
  mkdirSync(dirname(values.json), { recursive: true });
  const file = { schema: 1, proof: 'stairs-injection', machine, summary: summary(), runs };
  writeFileSync(values.json, `${JSON.stringify(file, undefined, 2)}\n`);
}

function verdicts(): string {
  return `${JSON.stringify(summary(), undefined, 2)}\n`;
}
