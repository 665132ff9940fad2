// `npm run bench -- verdicts-real`: real runs of `redline bench`, made one by one and all kept: a server, its copy, and twins
// that cost 3 and 10 % more CPU. What does each run say of each? A run takes about four minutes, and --quick about one; runs
// are added to the file, so that a record can grow over days.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { loadavg } from 'node:os';
import { relative } from 'node:path';
import { parseArgs } from 'node:util';
import { type BenchResult, isMeasured } from '@redline/lab';
import { writeSummary } from '../draws.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1' },
    quick: { type: 'boolean', default: false },
    json: { type: 'string', default: 'redline-out/verdicts-real.json' },
  },
});

interface Row {
  ratio: { value: number; low: number; high: number };
  verdict: string;
}

interface Run {
  startedAt: string;
  quick: boolean;
  seconds: number;
  /** Processes that wanted a core, as the system has it for the minute before. */
  loadBefore: number;
  restarts: number;
  blocks: number;
  control: Row;
  /** Whether the control's interval held 1; otherwise the words below were withheld. */
  isTrusted: boolean;
  variants: Record<string, Row>;
}

interface Proof {
  schema: 1;
  proof: 'verdicts-real';
  machine: object;
  summary: object;
  runs: Run[];
}

const scenario = relative('.', `${import.meta.dirname}/../scenarios/three-percent.ts`);
const output = 'redline-out/three-percent.json';
const proof: Proof = existsSync(values.json)
  ? (JSON.parse(readFileSync(values.json, 'utf8')) as Proof)
  : { schema: 1, proof: 'verdicts-real', machine: {}, summary: {}, runs: [] };
for (let count = 0; count < Number(values.runs); count++) {
  const loadBefore = loadavg()[0]!;
  const quick = values.quick ? ['--quick'] : [];
  rmSync(output, { force: true });
  execFileSync('redline', ['bench', scenario, ...quick, '--json', output], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const result = JSON.parse(readFileSync(output, 'utf8')) as BenchResult;
  proof.machine = result.machine;
  proof.runs.push(runOf(result, loadBefore));
  proof.summary = { full: summary(false), quick: summary(true) };
  writeSummary(values.json, proof);
}

function runOf(result: BenchResult, loadBefore: number): Run {
  const { control, variants, startedAt, durationSeconds, precision } = result;
  if (!isMeasured(control))
    throw new Error('The run has no A/A control: its baseline cannot run beside itself.');
  const rowOf = ({ cpuRatio, cpuVerdict }: typeof control): Row => ({
    ratio: cpuRatio,
    verdict: cpuVerdict,
  });
  return {
    startedAt,
    quick: values.quick,
    seconds: durationSeconds,
    loadBefore,
    restarts: precision.restarts,
    blocks: precision.blocks,
    control: rowOf(control),
    isTrusted: control.cpuRatio.low <= 1 && control.cpuRatio.high >= 1,
    variants: Object.fromEntries(
      variants
        .filter(isMeasured)
        .slice(1)
        .map((each) => [each.name, rowOf(each)]),
    ),
  };
}

/** The words by variant, and how far an interval of the copy reaches in the middle of all runs. */
function summary(quick: boolean): object {
  const runs = proof.runs.filter((run) => run.quick === quick);
  const words: Record<string, Record<string, number>> = {};
  for (const run of runs) {
    for (const [name, { verdict }] of Object.entries(run.variants)) {
      const said = run.isTrusted ? verdict : 'withheld';
      (words[name] ??= {})[said] = (words[name][said] ?? 0) + 1;
    }
  }
  const reaches = runs
    .map(({ control: { ratio } }) => (ratio.high - ratio.low) / 2)
    .toSorted((a, b) => a - b);
  return {
    runs: runs.length,
    words,
    falselyChanged: words['copy']?.['changed'] ?? 0,
    falselySame: (words['twin 3 %']?.['same'] ?? 0) + (words['twin 10 %']?.['same'] ?? 0),
    medianResolution: reaches[Math.floor(reaches.length / 2)] ?? null,
  };
}
