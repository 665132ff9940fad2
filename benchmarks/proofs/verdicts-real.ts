// `npm run bench -- verdicts-real`: real runs of `redline bench`, made one by one and all kept: two of a server with its
// copy, then one with a twin that costs 3 % more CPU. What is the verdict of each run? A run takes about three minutes, and
// --quick about one. `--load 0.3` has another process take 30 % of a core meanwhile; `--minutes 4` makes as many runs as
// fit.
import { relative } from 'node:path';
import { bandOf, type BenchResult, type Interval, isMeasured, judge } from '@redline/lab';
import { byConditions, type RealRun, recordRuns } from '../real-runs.ts';

interface Row {
  ratio: Interval;
}

interface Run extends RealRun {
  /** The server's counterpart. */
  asked: string;
  /** Duration of the run by its own clock. */
  measuredSeconds?: number;
  restarts?: number;
  blocks?: number;
  control?: Row;
  /** True if the control's interval contained 1; otherwise the verdict was withheld. */
  isTrusted?: boolean;
  row?: Row;
}

const scenario = relative('.', `${import.meta.dirname}/../scenarios/three-percent.ts`);
/** Runs of each question, of every three. */
const questions = { copy: 2, 'twin 3 %': 1 };

await recordRuns<Run>({
  name: 'verdicts-real',
  next(runs) {
    const turns = Object.entries(questions).map(([asked, ofThree]) => ({
      asked,
      had: runs.filter((run) => run.asked === asked).length / ofThree,
    }));
    const { asked } = turns.toSorted((a, b) => a.had - b.had)[0]!;
    return { args: ['bench', scenario, '--only', `server,${asked}`], run: { asked } };
  },
  read: readRun,
  summary: (runs) =>
    Object.fromEntries(
      [...byConditions(runs)].map(([conditions, alike]) => [conditions, summary(alike)]),
    ),
});

function readRun({ control, variants, durationSeconds, precision }: BenchResult): Partial<Run> {
  const row = variants.findLast(isMeasured)!;
  if (!isMeasured(control)) throw new Error('The run has no A/A control.');
  return {
    measuredSeconds: durationSeconds,
    restarts: precision.restarts,
    blocks: precision.blocks,
    control: { ratio: control.cpuRatio },
    isTrusted: control.cpuRatio.low <= 1 && control.cpuRatio.high >= 1,
    row: { ratio: row.cpuRatio },
  };
}

/** Returns the verdicts by question, and the median reach of a copy's interval. */
function summary(runs: readonly Run[]): object {
  const byQuestion = [...Map.groupBy(runs, ({ asked }) => asked)];
  const reaches = runs
    .flatMap(({ control }) => (control ? reachOf(control.ratio) : []))
    .toSorted((a, b) => a - b);
  return {
    runs: runs.length,
    words: Object.fromEntries(byQuestion.map(([asked, alike]) => [asked, countVerdicts(alike)])),
    falselyChanged: countOf('changed', ({ asked }) => asked === 'copy'),
    falselySame: countOf('same', ({ asked }) => asked !== 'copy'),
    // A twin's own clock and the readings of these runs can differ.
    reads: Object.fromEntries(byQuestion.map(([asked, alike]) => [asked, meanOf(alike)])),
    medianResolution: reaches[Math.floor(reaches.length / 2)] ?? null,
    longestSeconds: Math.max(0, ...runs.map(({ measuredSeconds = 0 }) => measuredSeconds)),
  };

  function countOf(word: string, isCounted: (run: Run) => boolean): number {
    return countVerdicts(runs.filter(isCounted))[word] ?? 0;
  }
}

/** Returns how much more CPU it takes than the server, over all runs that measured it, and the standard error. */
function meanOf(runs: readonly Run[]): { more: number; standardError: number } | null {
  const more = runs.flatMap(({ row }) => (row === undefined ? [] : 1 / row.ratio.value - 1));
  if (more.length < 2) return null;
  const mean = more.reduce((sum, each) => sum + each, 0) / more.length;
  const squares = more.reduce((sum, each) => sum + (each - mean) ** 2, 0);
  return { more: mean, standardError: Math.sqrt(squares / (more.length - 1) / more.length) };
}

function reachOf({ low, high }: Row['ratio']): number {
  return (high - low) / 2;
}

/** Judged by the current rule: a record outlives several rules. */
function verdictOf({ failure, isTrusted, row, control }: Run): string {
  if (failure !== undefined) return 'failed';
  return isTrusted ? judge(row!.ratio, { band: bandOf(control!.ratio) }) : 'withheld';
}

function countVerdicts(runs: readonly Run[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const run of runs) {
    const verdict = verdictOf(run);
    counts[verdict] = (counts[verdict] ?? 0) + 1;
  }
  return counts;
}
