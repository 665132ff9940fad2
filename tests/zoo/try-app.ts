// `redline try` on an app of the zoo, as a user types it.
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TryResult } from '@redline/lab';
import { endProcessesOf, filesOf, leftovers, marker } from './leftovers.ts';
import type { Setting } from './setting.ts';
import type { Tried } from './zoo-result.ts';

const redline = join(import.meta.dirname, '../../packages/lab/bin/redline.mjs');
/** A command that has not ended by then never will. */
const limitMs = 300_000;
const afterInterruptMs = 30_000;

/** How long `redline try` may take, or how many restarts. */
export interface TrySize {
  seconds: number;
  restarts?: number;
}

export async function tryApp(
  setting: Setting,
  { seconds, restarts }: TrySize,
  isQuiet: boolean,
): Promise<Tried> {
  setting.renew();
  const file = join(setting.folder, 'try.json');
  rmSync(file, { force: true });
  const before = filesOf(setting);
  const trial = randomUUID();
  const startedAt = performance.now();
  const { child, output, announced } = startTry(setting, trial, [
    '--seconds',
    String(seconds),
    '--json',
    file,
    '--out',
    join(setting.folder, 'reports'),
    ...(restarts === undefined ? [] : ['--restarts', String(restarts)]),
  ]);
  const exit = await exitOf(child);
  const endedAt = performance.now();
  const left = await leftovers(setting, trial, before);
  endProcessesOf(trial);
  const text = output.join('');
  const facts = {
    givenSeconds: seconds,
    isQuiet,
    exit,
    ...announcedIn(text),
    ...(announced.at !== undefined && { tookSeconds: rounded(endedAt - announced.at) }),
    seconds: rounded(endedAt - startedAt),
    left,
  };
  if (!existsSync(file)) return { word: 'refused', sentence: lastSentence(text), ...facts };
  const result = JSON.parse(readFileSync(file, 'utf8')) as TryResult;
  const changed = result.bench.variants.find(({ name }) => name === 'with redline');
  return {
    word: result.word,
    sentence: verdictSentence(text),
    request: result.title.replace(/^.*, /, ''),
    ...(changed !== undefined &&
      'cpuRatio' in changed && { cpu: changed.cpuRatio, rps: changed.rpsRatio }),
    ...facts,
  };
}

/** `1 m 35 s` */
const announcement = /Takes about (?:(\d+) m )?(\d+) s from here/;

function announcedIn(text: string): { announcedSeconds?: number } {
  const [, minutes = '0', seconds] = announcement.exec(text.replaceAll(/\s+/g, ' ')) ?? [];
  return seconds === undefined ? {} : { announcedSeconds: 60 * Number(minutes) + Number(seconds) };
}

function rounded(ms: number): number {
  return Math.round(ms / 100) / 10;
}

/** Ctrl-C at a moment of the trial: to the whole group, as a terminal sends it, or to the command alone. */
export async function interruptTry(
  setting: Setting,
  afterMs: number,
  toGroup: boolean,
): Promise<{ ended: boolean; left: string[] }> {
  setting.renew();
  const before = filesOf(setting);
  const trial = randomUUID();
  const { child } = startTry(setting, trial, ['--seconds', '60']);
  const exited = once(child, 'exit');
  const ended = await Promise.race([
    exited.then(() => true),
    sleep(afterMs, undefined, { ref: false }).then(() => false),
  ]);
  if (!ended) process.kill(toGroup ? -child.pid! : child.pid!, 'SIGINT');
  const stopped = await Promise.race([
    exited.then(() => true),
    sleep(afterInterruptMs, undefined, { ref: false }).then(() => false),
  ]);
  const left = await leftovers(setting, trial, before);
  if (!stopped) {
    child.kill('SIGKILL');
    left.unshift(`${afterInterruptMs / 1_000} s later it still runs`);
  }
  endProcessesOf(trial);
  return { ended, left };
}

function startTry(
  setting: Setting,
  trial: string,
  options: readonly string[],
): { child: ChildProcess; output: string[]; announced: { at?: number } } {
  const words = ['try', '--yes', ...options, ...(setting.app.tryArguments ?? [])];
  const child = spawn(process.execPath, [redline, ...words, '--', 'node', ...setting.command()], {
    cwd: setting.place.app,
    env: { ...setting.env(), NO_COLOR: '1', [marker]: trial },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const output: string[] = [];
  const announced: { at?: number } = {};
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data: Buffer) => {
      output.push(data.toString());
      if (data.includes('Takes about ')) announced.at ??= performance.now();
    });
  }
  return { child, output, announced };
}

async function exitOf(child: ChildProcess): Promise<number | string> {
  const exited = once(child, 'exit').then(([code, signal]) => (signal ?? code) as number | string);
  const late = `still running ${limitMs / 1_000} s later`;
  const exit = await Promise.race([
    exited,
    sleep(limitMs, undefined, { ref: false }).then(() => late),
  ]);
  if (exit === late) {
    child.kill('SIGKILL');
    await exited;
  }
  return exit;
}

const verdicts = /^(It pays|Not for you|This run cannot tell|The app differed)/;

function verdictSentence(text: string): string {
  const lines = text.split('\n');
  const at = lines.findIndex((line) => verdicts.test(line));
  if (at < 0) return lastSentence(text);
  const end = lines.findIndex((line, index) => index > at && !/^\S/.test(line));
  return lines
    .slice(at, end < 0 ? undefined : end)
    .join(' ')
    .replace(/ (To keep it|Tried:).*/, '');
}

/** Of a command that ended without a result. */
function lastSentence(text: string): string {
  const lines = text.trim().split('\n');
  const at = lines.findLastIndex((line) => /^(redline|try)?:? ?\S/.test(line));
  return lines
    .slice(Math.max(0, at))
    .join(' ')
    .replace(/^redline: /, '')
    .replaceAll(/\/\S*redline-zoo-\w+/g, '')
    .slice(0, 400);
}
