// Counts the events of a request on a simulated processor: callgrind of valgrind, with its caches, and a V8 that does the same in each run.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@redline/services';
import type { Simulated } from './ci-rules.ts';

/** A fixed seed, and no compiler or collector that works beside the program when it likes. */
const steady = ['--hash-seed=1', '--random-seed=1', '--no-opt', '--predictable-gc-schedule'];
const v8 = [...steady, '--single-threaded'];
const warmUp = 100;
const perL1Miss = 10;
const perLastMiss = 100;
const readyWithinMs = 180_000;

export function hasValgrind(): boolean {
  try {
    execFileSync('valgrind', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Counts the events of some requests to a server, one after the other. */
export async function simulate(
  file: string,
  env: Record<string, string>,
  requests: number,
): Promise<Simulated> {
  const folder = mkdtempSync(join(tmpdir(), 'redline-simulated-'));
  const port = await freePort();
  // vgdb finds the process by this prefix and by HOST.
  const shared = { ...process.env, HOST: '127.0.0.1' };
  const prefix = `--vgdb-prefix=${join(folder, 'vgdb')}`;
  const callgrind = ['--tool=callgrind', '--instr-atstart=no', '--cache-sim=yes', prefix];
  const out = `--callgrind-out-file=${join(folder, 'out')}`;
  const child = spawn('valgrind', [...callgrind, out, process.execPath, ...v8, file], {
    env: { ...shared, PORT: String(port), ...env },
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  const tell = (...words: string[]): Buffer =>
    execFileSync('vgdb', [prefix, `--pid=${child.pid}`, ...words], { env: shared, stdio: 'pipe' });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    await untilReady(port, () => child.exitCode ?? child.signalCode);
    await ask(port, agent, warmUp);
    tell('instrumentation', 'on');
    // The first ones are translated again, and the caches are empty.
    await ask(port, agent, warmUp);
    tell('zero');
    await ask(port, agent, requests);
    tell('dump');
    return readEvents(folder, requests);
  } finally {
    agent.destroy();
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
}

async function untilReady(port: number, ended: () => unknown): Promise<void> {
  const until = Date.now() + readyWithinMs;
  for (;;) {
    const isReady = await ask(port, new Agent(), 1).then(
      () => true,
      () => false,
    );
    if (isReady) return;
    if (ended() !== null || Date.now() > until) {
      throw new Error('The server does not respond under valgrind.');
    }
    await sleep(100);
  }
}

async function ask(port: number, agent: Agent, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent++) {
    await new Promise<void>((resolve, reject) => {
      get({ host: '127.0.0.1', port, path: '/items', agent }, (response) => {
        response.resume().on('end', resolve).on('error', reject);
      }).on('error', reject);
    });
  }
}

/** Reads the dump that was asked for; the file of the end has what came after it. */
function readEvents(folder: string, requests: number): Simulated {
  const [file] = globSync('out.*', { cwd: folder });
  if (file === undefined) throw new Error('callgrind has written no dump.');
  const text = readFileSync(join(folder, file), 'utf8');
  const names = /^events: (.*)$/m.exec(text)![1]!.split(' ');
  const counts = /^(?:summary|totals): (.*)$/m.exec(text)![1]!.split(' ').map(Number);
  const of = (...wanted: string[]): number =>
    wanted.reduce((sum, name) => sum + (counts[names.indexOf(name)] ?? 0), 0) / requests;
  const instructions = of('Ir');
  const cycles =
    instructions +
    perL1Miss * of('I1mr', 'D1mr', 'D1mw') +
    perLastMiss * of('ILmr', 'DLmr', 'DLmw');
  return { instructions, cycles };
}
