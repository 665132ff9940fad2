// `npm run bench -- ladder-real`: real runs of the ladder of `npm start`, one after the other, all of them kept. How wide is
// the A/A interval of CPU, and which neighbouring rungs that differ by 10 % are resolved? A run takes up to five minutes.
// `--load 0.3` has another process take 30 % of a core meanwhile; `--minutes 10` makes as many runs as fit.
import { relative } from 'node:path';
import { bandOf, type BenchResult, type Interval, isMeasured, judge } from '@redline/lab';
import { byConditions, type RealRun, recordRuns } from '../real-runs.ts';

interface Step {
  name: string;
  over: string;
  cpu: Interval;
}

interface Run extends RealRun {
  /** Duration of the run by its own clock. */
  measuredSeconds?: number;
  restarts?: number;
  blocks?: number;
  control?: { cpu: Interval; rps: Interval };
  steps?: Step[];
  warnings?: string[];
}

/** The criteria: the ratio that must be resolved, and the max reach of the base's interval against itself. */
const differs = 1.1;
const maxReach = 0.04;
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
  // Judged by the current rule: a record outlives several rules.
  const apart = runs
    .flatMap(({ steps = [], control }) =>
      steps.map(({ cpu }) => ({ cpu, verdict: judge(cpu, { band: bandOf(control!.cpu) }) })),
    )
    .filter(({ cpu: { value } }) => Math.max(value, 1 / value) >= differs);
  return {
    runs: runs.length,
    failed: runs.filter(({ failure }) => failure !== undefined).length,
    medianReach: reaches[Math.floor(reaches.length / 2)] ?? null,
    withinBar: reaches.filter((reach) => reach <= maxReach).length,
    stepsOfATenth: apart.length,
    resolved: apart.filter(({ verdict }) => verdict === 'changed').length,
    longestSeconds: Math.max(0, ...runs.map(({ measuredSeconds = 0 }) => measuredSeconds)),
  };
}
