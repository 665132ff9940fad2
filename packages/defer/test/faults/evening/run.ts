// `npm run faults:defer -- [--jobs N] [--each N] [--json FILE] [--only TEXT] [--seed N] [--fresh]`: bad disks, power failures, kills and pauses of
// the app and of every sink's server while jobs flow, trial after trial, until N jobs are acknowledged. At the end of a trial each of
// its jobs must be in its sink. Finished trials are kept, and the same command goes on after them. Ctrl-C gives up the current trial.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeResult } from '../../../../../benchmarks/write-result.ts';
import { seededRandom } from '../kill-trials.ts';
import { platforms } from '../platforms.ts';
import type { EveningResult, EveningTrial } from './evening-result.ts';
import { trials, type Trial } from './trials.ts';

const { values } = parseArgs({
  options: {
    jobs: { type: 'string', default: '200000' },
    each: { type: 'string', default: '2000' },
    json: { type: 'string' },
    only: { type: 'string' },
    seed: { type: 'string', default: '1' },
    fresh: { type: 'boolean', default: false },
  },
});
const jobs = toCount('jobs', values.jobs);
const jobsPerTrial = toCount('each', values.each);
const seed = toCount('seed', values.seed);
const chosen = trials.filter(({ kind }) => kind.includes(values.only ?? ''));
if (chosen.length === 0) {
  const kinds = trials.map(({ kind }) => `"${kind}"`).join(', ');
  throw new Error(`No trial matches "${values.only}". Trials: ${kinds}.`);
}
const file = values.json ?? 'redline-out/defer-evening/result.json';
const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stop.abort());

const known = values.fresh ? undefined : before();
const done: EveningTrial[] = [...(known?.trials ?? [])];
const startedAt = known?.startedAt ?? new Date().toISOString();
if (done.length > 0) say(`${done.length} trials are done; this goes on after them.`);
// The controls, and what is missing, acknowledge nothing.
const maxTrials = done.length + Math.ceil(jobs / jobsPerTrial) * 3 + chosen.length;
while (acknowledged() < jobs && lost() === 0 && done.length < maxTrials) {
  const trial = chosen[done.length % chosen.length]!;
  const lap = Math.floor(done.length / chosen.length);
  const each = await runTrial(trial, lap).catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  if (each === undefined) break;
  done.push(each);
  write();
  say(describe(each));
}
if (stop.signal.aborted) {
  say(`Stopped after ${done.length} trials: the same command goes on from here.`);
  process.exit(130);
}
say(`${lost()} of ${acknowledged()} acknowledged jobs lost, in ${done.length} trials: ${file}`);
process.exit(lost() === 0 && acknowledged() >= jobs ? 0 : 1);

async function runTrial(trial: Trial, lap: number): Promise<EveningTrial> {
  const at = done.length;
  const folder = mkdtempSync(join(tmpdir(), 'redline-evening-'));
  const level = trial.level ?? (lap % 2 === 0 ? 'process' : 'disk');
  const platform = platforms[(at + lap) % platforms.length]!;
  const isSealed = (at + lap) % 3 === 1;
  const startedAtMs = performance.now();
  const outcome = await trial.run({
    directory: join(folder, 'journal'),
    level,
    platform,
    ...(isSealed && { seal: `key-${at}` }),
    random: seededRandom(seed * 1_000 + at),
    signal: stop.signal,
    patienceMs: trial.isControl ? 5_000 : 60_000,
    jobs: Math.min(jobsPerTrial, Math.max(1, jobs - acknowledged())),
  });
  const facts = {
    kind: trial.kind,
    platform,
    level,
    isSealed,
    isControl: trial.isControl === true,
  };
  const seconds = Math.round((performance.now() - startedAtMs) / 1_000);
  const none = { lives: 0, faults: 0, acknowledged: 0, refused: 0, lost: 0, again: 0 };
  if ('missing' in outcome) return { ...facts, seconds, ...none, missing: outcome.missing };
  const { lost: ids, ...counts } = outcome;
  if (ids.length > 0 && !facts.isControl)
    say(`Lost: ${ids.slice(0, 10).join(', ')}. Its files: ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
  return { ...facts, seconds, ...counts, lost: ids.length };
}

function before(): EveningResult | undefined {
  if (!existsSync(file)) return undefined;
  const result: EveningResult = JSON.parse(readFileSync(file, 'utf8'));
  if (result.seed === seed) return result;
  throw new Error(
    `${file} has the seed ${result.seed}: give it with --seed, or begin again with --fresh.`,
  );
}

function write(): void {
  const [cpu] = cpus();
  const machine = {
    cores: cpus().length,
    cpuModel: cpu?.model ?? '',
    kernel: release(),
    node: process.version,
  };
  const result: EveningResult = {
    command: `npm run faults:defer -- --jobs ${jobs} --each ${jobsPerTrial} --seed ${seed}`,
    startedAt,
    machine,
    seed,
    jobs,
    acknowledged: acknowledged(),
    lost: lost(),
    trials: done,
  };
  writeResult(file, result);
}

function acknowledged(): number {
  return sumOf(({ acknowledged: each }) => each);
}

function lost(): number {
  return sumOf(({ lost: each }) => each);
}

function sumOf(count: (trial: EveningTrial) => number): number {
  return done.filter(({ isControl }) => !isControl).reduce((sum, trial) => sum + count(trial), 0);
}

function describe(trial: EveningTrial): string {
  const { kind, platform, level, isSealed, seconds, lives, faults, refused, again } = trial;
  const name = `${kind} · ${platform}, ${level}${isSealed ? ', sealed' : ''}`;
  if (trial.missing !== undefined) return `${name}: skipped, ${trial.missing} is missing`;
  const counts = `${trial.acknowledged} acknowledged, ${trial.lost} lost, ${again} twice, ${refused} refused`;
  return `${name}: ${counts}; ${lives} lives, ${faults} faults, ${seconds} s (${acknowledged()} of ${jobs})`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function toCount(option: string, text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count > 0) return count;
  throw new Error(`The option --${option} must be a whole number above 0; got ${text}.`);
}
