// `npm run test:launchers [-- NAME…]`: every command that starts an app, where a daemon of the user runs that app already: PM2 in
// both of its modes, pm2-runtime, forever and a daemon made by hand. Their processes, environments and ports stay as they are, also
// after Ctrl-C and after a kill of redline.
import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { freePort } from '@redline/services';
import { Live, type Manager, managers, processesWith } from './live.ts';

const help = `npm run test:launchers -- [NAME…] [options]

  NAME          of ${managers.map(({ name }) => name).join(', ')}; all of them by default
  --stops N     for each script, interrupt and kill redline try N times at a random moment (2)
  --seed N      repeat these moments
`;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    stops: { type: 'string', default: '2' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean' },
  },
});
if (values.help) {
  process.stdout.write(help);
  process.exit();
}
const unknown = positionals.find((each) => !managers.some(({ name }) => name === each));
if (unknown !== undefined) {
  process.stderr.write(`Unknown name "${unknown}".\n${help}`);
  process.exit(2);
}

const redline = join(import.meta.dirname, '../../packages/lab/bin/redline.mjs');
const versions = ['pm2@7.0.4', 'forever@4.0.3'];
/** Of redline try until it has ended by itself. */
const longestMs = 6_000;
const limitMs = 120_000;
const goneMs = 8_000;
const few = ['--connections', '2'];
const profile = ['--seconds', '1', '--warmup', '0', ...few];
const shortest = ['--restarts', '1', '--blocks', '1'];

/** Each command that starts an app; URL stands for where the copy listens. */
const commands: Record<string, readonly string[]> = {
  try: ['--yes', '--restarts', '1', ...few],
  doctor: ['--yes', ...profile],
  'doctor --prove': ['--yes', ...profile, '--test', 'true'],
  bench: ['URL', ...shortest, '--warmup', '0', ...few],
  stairs: ['URL', '--seconds', '1', '--warmup', '0'],
  flame: ['URL', ...profile],
  deopts: ['URL', ...profile],
  heap: ['URL', '--rounds', '6', '--per-round', '40', '--warmup', '0', ...few],
  advise: ['URL', ...profile],
  ci: ['URL', '--base', 'HEAD~1', ...shortest],
};

interface Trial {
  command: string;
  script: string;
  /** By itself, or by a signal after this time. */
  end?: { signal: 'SIGINT' | 'SIGKILL'; afterMs: number };
}

let failed = 0;
let done = 0;
const bin = install();
for (const manager of managers) {
  if (positionals.length > 0 && !positionals.includes(manager.name)) continue;
  await using live = await Live.start(manager, bin);
  const before = await live.state();
  const files = filesOf(live);
  for (const trial of trialsOf(manager)) {
    const seen = await runTrial(trial, live);
    const after = await live.state().catch((error: Error) => error.message);
    const left = filesOf(live).filter((each) => !files.includes(each));
    const faults = [
      ...seen,
      ...(isDeepStrictEqual(before, after)
        ? []
        : [`the app changed: ${JSON.stringify(before)} ${JSON.stringify(after)}`]),
      // A killed redline cannot remove its files.
      ...(trial.end?.signal === 'SIGKILL' ? [] : left.map((each) => `file ${each} is left`)),
    ];
    done++;
    files.push(...left);
    if (faults.length === 0) continue;
    failed++;
    console.log(`${manager.name}, ${nameOf(trial)}:\n  ${faults.join('\n  ')}`);
    // What follows is compared with an app that is as it was.
    if (!isDeepStrictEqual(before, after)) break;
  }
  console.log(`${manager.name.padEnd(12)} ${done} runs so far, ${failed} failed`);
}
if (failed > 0) process.exitCode = 1;

function* trialsOf({ scripts }: Manager): Generator<Trial> {
  const random = randomFrom(Number(values.seed));
  for (const script of scripts) yield { command: 'try', script };
  for (const command of Object.keys(commands)) {
    if (command !== 'try') yield { command, script: scripts[0]! };
  }
  for (const script of scripts) {
    for (let stop = 0; stop < Number(values.stops); stop++) {
      for (const signal of ['SIGINT', 'SIGKILL'] as const) {
        const afterMs = Math.floor(random() ** 2 * longestMs);
        yield { command: 'try', script, end: { signal, afterMs } };
      }
    }
  }
}

function nameOf({ command, script, end }: Trial): string {
  const how = end === undefined ? '' : `, ${end.signal} after ${end.afterMs} ms`;
  return `redline ${command} -- npm run ${script}${how}`;
}

/** @returns whatever is wrong with how it ended */
async function runTrial({ command, script, end }: Trial, live: Live): Promise<string[]> {
  const id = randomUUID();
  const url = `http://127.0.0.1:${await freePort()}/`;
  const options = commands[command]!.map((word) => (word === 'URL' ? url : word));
  const words = [...command.split(' '), ...options, '--', 'npm', 'run', script];
  const child = spawn(process.execPath, [redline, ...words], {
    cwd: live.folder,
    env: { ...live.env, REDLINE_TRIAL: id },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const output: string[] = [];
  child.stdout.on('data', (data: Buffer) => void output.push(data.toString()));
  child.stderr.on('data', (data: Buffer) => void output.push(data.toString()));
  const exited = once(child, 'exit');
  const faults: string[] = [];
  const within = async (ms: number): Promise<boolean> =>
    Promise.race([exited.then(() => true), sleep(ms, false, { ref: false })]);
  if (!(await within(end?.afterMs ?? limitMs))) {
    // Ctrl-C in a terminal reaches the whole group; a kill, the command alone.
    if (end?.signal === 'SIGINT') process.kill(-child.pid!, 'SIGINT');
    else child.kill('SIGKILL');
    if (end === undefined) faults.push(`still running after ${limitMs / 1_000} s`);
    if (!(await within(goneMs))) {
      faults.push(`still running ${goneMs / 1_000} s after ${end?.signal ?? 'SIGKILL'}`);
      child.kill('SIGKILL');
      await exited;
    }
  }
  const text = output.join('');
  // A program of the daemon's file is tried in its place; everything else is refused with a code.
  const isSaid = child.exitCode === 0 || end !== undefined || /\(ERR_REDLINE_\w+\)/.test(text);
  if (!isSaid || text.includes('ERR_REDLINE_UNEXPECTED')) faults.push(text.slice(-600));
  const deadline = Date.now() + goneMs;
  const marker = `REDLINE_TRIAL=${id}`;
  while (processesWith(marker).length > 0 && Date.now() < deadline) await sleep(50);
  for (const { pid, command: left } of processesWith(marker)) {
    faults.push(`process ${pid} is left: ${left.slice(0, 160)}`);
    process.kill(pid, 'SIGKILL');
  }
  return faults;
}

/** Those of redline; Node keeps a cache of compiled code for PM2. */
function filesOf({ temporary }: Live): string[] {
  return readdirSync(temporary).filter((name) => name.startsWith('redline'));
}

/** Once for these versions, outside of the repository. */
function install(): string {
  const cache = process.env['REDLINE_CACHE'] ?? join(homedir(), '.cache/redline');
  const folder = join(cache, `launchers-${versions.join('-').replaceAll('@', '-')}`);
  const inside = join(folder, 'node_modules/.bin');
  if (existsSync(inside)) return inside;
  const partial = `${folder}.${process.pid}`;
  mkdirSync(partial, { recursive: true });
  writeFileSync(join(partial, 'package.json'), '{"private":true}');
  const words = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', [...words, ...versions], { cwd: partial, stdio: 'inherit' });
  if (status !== 0) throw new Error(`npm install ${versions.join(' ')} ended with ${status}`);
  renameSync(partial, folder);
  return inside;
}

/** Mulberry32: the same moments for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = Math.trunc(state + 0x6d2b79f5);
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
