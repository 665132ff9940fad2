// `npm run bench -- ladder-real`: real runs of the ladder of `npm start`, one after the other, all of them kept. How wide is
// the A/A interval of CPU, and which neighbouring rungs that differ by 10 % are resolved? A run takes up to five minutes.
// `--load 0.3` lets another process take 30 % of a core meanwhile; `--minutes 10` makes the runs that fit.
import { relative } from 'node:path';
import { bandOf, type BenchResult, type Interval, isMeasured, judge } from '@redline/lab';
import { byConditions, type RealRun, recordRuns } from '../real-runs.ts';

interface Step {
  name: string;
  over: string;
  cpu: Interval;
}

interface Run extends RealRun {
  /** What the run took by its own clock. */
  measuredSeconds?: number;
  restarts?: number;
  blocks?: number;
  control?: { cpu: Interval; rps: Interval };
  steps?: Step[];
  warnings?: string[];
}

/** The bars: what has to be told apart, and how far the interval of the base against itself may reach for it. */
const differs = 1.1;
const mostReach = 0.04;
const config = relative('.', `${import.meta.dirname}/../../examples/cached-api/redline.config.ts`);

await recordRuns<Run>({
  name: 'ladder-real',
  next: () => ({ args: ['ladder', config], run: {} }),
  read: readRun,
  summary: (runs) =>
    Object.fromEntries(
      [...byConditions(runs)].map(([conditions, alike]) => [conditions, summary(alike)]),
    ),
});

function readRun(result: BenchResult): Partial<Run> {
  const { control, variants, durationSeconds, precision, warnings } = result;
  if (!isMeasured(control)) throw new Error('The run has no A/A control.');
  return {
    measuredSeconds: durationSeconds,
    restarts: precision.restarts,
    blocks: precision.blocks,
    control: { cpu: control.cpuRatio, rps: control.rpsRatio },
    steps: variants
      .filter(isMeasured)
      .flatMap(({ name, step }) =>
        step === undefined ? [] : { name, over: step.over, cpu: step.cpu.ratio },
      ),
    warnings,
  };
}

function summary(runs: readonly Run[]): object {
  const reaches = runs
    .flatMap(({ control }) => (control ? (control.cpu.high - control.cpu.low) / 2 : []))
    .toSorted((a, b) => a - b);
  // By the rule of today: a record grows for longer than a rule lives.
  const apart = runs
    .flatMap(({ steps = [], control }) =>
      steps.map(({ cpu }) => ({ cpu, verdict: judge(cpu, { band: bandOf(control!.cpu) }) })),
    )
    .filter(({ cpu: { value } }) => Math.max(value, 1 / value) >= differs);
  return {
    runs: runs.length,
    failed: runs.filter(({ failure }) => failure !== undefined).length,
    medianReach: reaches[Math.floor(reaches.length / 2)] ?? null,
    withinBar: reaches.filter((reach) => reach <= mostReach).length,
    stepsOfATenth: apart.length,
    resolved: apart.filter(({ verdict }) => verdict === 'changed').length,
    longestSeconds: Math.max(0, ...runs.map(({ measuredSeconds = 0 }) => measuredSeconds)),
  };
}
