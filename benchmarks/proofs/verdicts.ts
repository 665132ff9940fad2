// `npm run bench -- verdicts FILE…`: how often does `redline bench` report a difference, if there is none and if there is
// one of 5 %? Takes results of the scenario `five-percent` (a server, its copy, and a twin that costs 5 % more CPU per
// request), draws runs from their restarts, and counts the verdicts: for the twin as measured, and with its CPU scaled to
// the intended value. Without files it measures first, for nine minutes. All four servers of a restart run side by side; a
// run for one question has three, and is timed separately.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { parseArgs } from 'node:util';
import { type BenchResult, compareSlices, type Slice } from '@redline/lab';
import { generator, writeSummary } from '../draws.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Number of restarts that are only timed. */
    timed: { type: 'string', default: '3' },
    runs: { type: 'string', default: '100' },
    /** Number of restarts recorded, if no files are given: more than twice those of a run, so that drawn runs differ. */
    record: { type: 'string', default: '34' },
    /** Restarts of a drawn run: the default of `redline bench` with `load.turns`. */
    restarts: { type: 'string', default: '14' },
    blocks: { type: 'string', default: '3' },
    json: { type: 'string', default: 'redline-out/verdicts.json' },
  },
});

const measured = 'redline-out/five-percent.json';
const scenario = relative('.', `${import.meta.dirname}/../scenarios/five-percent.ts`);
const timed = 'redline-out/five-percent-timed.json';
const bench = (...options: string[]) =>
  execFileSync('redline', ['bench', scenario, ...options], { stdio: 'inherit' });
if (positionals.length === 0) bench('--restarts', values.record, '--json', measured);
if (positionals.length === 0 || !existsSync(timed)) {
  bench('--only', 'server,twin', '--restarts', values.timed, '--json', timed);
}
const results = (positionals.length === 0 ? [measured] : positionals).map(read);
const pool = results.flatMap(({ slices }) => [
  ...Map.groupBy(slices, ({ restart }) => restart).values(),
]);
const restarts = Number(values.restarts);
const blocks = Number(values.blocks);
if (pool.length < restarts) {
  process.stderr.write(`${pool.length} restarts were recorded; runs of ${restarts} need more.\n`);
  process.exit(2);
}

const counts = { copy: emptyCount(), twin: emptyCount(), exact: emptyCount() };
const { ratio } = compareSlices(renumbered(pool), { baseline: 'server', variant: 'twin' });
/** Factor for the twin's CPU that makes it exactly as much slower as intended. */
const correction = 1.05 * ratio.value;
for (let run = 0; run < Number(values.runs); run++) {
  const slices = draw(run);
  const say = (variant: string, of: readonly Slice[]) => {
    const said = compareSlices(of, { baseline: 'server', variant, seed: run });
    return said.isTrusted ? said.verdict : 'withheld';
  };
  counts.copy[say('copy', slices)]++;
  counts.twin[say('twin', slices)]++;
  counts.exact[say('twin', slices.map(corrected))]++;
  if ((run + 1) % 10 === 0) process.stderr.write(`${run + 1} runs drawn\n`);
}

const { machine } = results[0]!;
const { durationSeconds, precision } = read(timed);
writeSummary(values.json, {
  schema: 1,
  proof: 'verdicts',
  machine,
  recordedRestarts: pool.length,
  runs: Number(values.runs),
  restartsPerRun: restarts,
  blocksPerRestart: blocks,
  secondsPerRun: Math.round((durationSeconds / precision.restarts) * restarts),
  sameServer: counts.copy,
  twin: counts.twin,
  ratioOfTwin: ratio,
  fivePercentSlower: counts.exact,
});

/** Scales the twin, which regulates itself and misses the mark by a little; an exact one would differ in nothing else. */
function corrected(slice: Slice): Slice {
  if (slice.variant !== 'twin') return slice;
  const turns = slice.turns?.map(({ requests, cpuMicros, mainThreadMicros = 0 }) => ({
    requests,
    cpuMicros: cpuMicros * correction,
    mainThreadMicros: mainThreadMicros * correction,
  }));
  return { ...slice, ...(turns ? { turns } : { cpuMicros: slice.cpuMicros * correction }) };
}

function renumbered(restartsOfPool: readonly (readonly Slice[])[]): Slice[] {
  return restartsOfPool.flatMap((own, at) => own.map((slice) => ({ ...slice, restart: at + 1 })));
}

function read(file: string): BenchResult {
  return JSON.parse(readFileSync(file, 'utf8')) as BenchResult;
}

function emptyCount(): Record<'changed' | 'same' | 'unresolved' | 'withheld', number> {
  return { changed: 0, same: 0, unresolved: 0, withheld: 0 };
}

/** Draws restarts without replacement: a run never has the same start of a server twice. */
function draw(seed: number): Slice[] {
  const random = generator(seed);
  const left = [...pool];
  const drawn: Slice[] = [];
  for (let restart = 1; restart <= restarts; restart++) {
    const [own] = left.splice(Math.floor(random() * left.length), 1) as [Slice[]];
    drawn.push(
      ...own.filter(({ block }) => block <= blocks).map((slice) => ({ ...slice, restart })),
    );
  }
  return drawn;
}
