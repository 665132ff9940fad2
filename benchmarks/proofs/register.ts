// `npm run bench -- register`: the cost of the register hooks in a Node process that neither starts a child nor serves, as
// its user and system CPU from its start to the end of an empty program. Starts are interleaved in random order, and each
// start with a hook is compared with the start of an empty `--import` in the same round. 40 rounds, or --rounds; --json FILE
// stores the result.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { writeResult } from '../write-result.ts';

export interface RegisterResult {
  readonly startedAt: string;
  readonly node: string;
  readonly kernel: string;
  readonly cpuModel: string;
  readonly rounds: number;
  /** Milliseconds of CPU of a start with an empty `--import`, median. */
  readonly emptyMs: number;
  readonly hooks: readonly RegisterCost[];
}

export interface RegisterCost {
  readonly name: string;
  /** Milliseconds of CPU above the empty one: the median of the rounds and its 95 % interval. */
  readonly addedMs: readonly [median: number, low: number, high: number];
}

const EMPTY = 'an empty --import';
const WARM_UP_ROUNDS = 3;
const { values } = parseArgs({ options: { rounds: { type: 'string' }, json: { type: 'string' } } });
const rounds = Number(values.rounds ?? 40);
const folder = mkdtempSync(join(tmpdir(), 'register-'));
const empty = join(folder, 'empty.mjs');
writeFileSync(empty, '');

const packages = join(import.meta.dirname, '../../packages');
const hooks = {
  [EMPTY]: empty,
  '@redline/child-process/register': join(packages, 'child-process/dist/register.js'),
  '@redline/http/register': join(packages, 'http/dist/register.js'),
};
const names = Object.keys(hooks) as (keyof typeof hooks)[];
const startedAt = new Date().toISOString();
const cpuMs = new Map<string, number[]>(names.map((name) => [name, []]));
for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
  for (const name of shuffled(names)) {
    const ms = startMs(hooks[name]!);
    if (round >= 0) cpuMs.get(name)!.push(ms);
  }
}
rmSync(folder, { recursive: true });

const emptyMs = cpuMs.get(EMPTY)!;
const result: RegisterResult = {
  startedAt,
  node: process.version,
  kernel: release(),
  cpuModel: cpus()[0]?.model ?? 'unknown',
  rounds,
  emptyMs: rounded(medianAndInterval(emptyMs)[0]),
  hooks: names.slice(1).map((name) => {
    const added = cpuMs.get(name)!.map((ms, round) => ms - emptyMs[round]!);
    const [median, low, high] = medianAndInterval(added).map(rounded) as [number, number, number];
    return { name, addedMs: [median, low, high] };
  }),
};
process.stdout.write(`${EMPTY}: ${result.emptyMs} ms of CPU, ${rounds} starts each\n`);
for (const { name, addedMs } of result.hooks)
  process.stdout.write(`${name}: + ${addedMs[0]} ms (95 %: ${addedMs[1]} to ${addedMs[2]})\n`);
if (values.json !== undefined) writeResult(values.json, result);

/** Returns user and system CPU of all threads of a process that exits at once. */
function startMs(file: string): number {
  const program = 'const { user, system } = process.cpuUsage(); console.log(user + system)';
  const args = ['--import', pathToFileURL(file).href, '-e', program];
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8' })) / 1_000;
}

/** The interval uses order statistics, without an assumption about the distribution. */
function medianAndInterval(
  figures: readonly number[],
): [median: number, low: number, high: number] {
  const sorted = figures.toSorted((a, b) => a - b);
  const count = sorted.length;
  const reach = Math.ceil(0.98 * Math.sqrt(count));
  const at = (index: number): number => sorted[Math.min(count - 1, Math.max(0, index))]!;
  const middle = (at(Math.floor((count - 1) / 2)) + at(Math.ceil((count - 1) / 2))) / 2;
  return [middle, at(Math.floor(count / 2) - reach - 1), at(Math.ceil(count / 2) + reach)];
}

function shuffled<T>(given: readonly T[]): T[] {
  const left = [...given];
  return given.map(() => left.splice(Math.floor(Math.random() * left.length), 1)[0]!);
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
