import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, lookElsewhere } from './free-port.ts';
import { signalGroup } from './signal-group.ts';

/** A private server: on loopback, on a free port, in its own folder, removed by `stop()`. */
export interface Daemon {
  readonly port: number;
  /** Process id of the running server; undefined while it is down. */
  readonly pid: number | undefined;
  /** Kills the process, like a crash. */
  kill(): Promise<void>;
  /** Asks the process to end, and waits until it has. */
  terminate(): Promise<void>;
  /** Starts it again, on the same port and with its stored data. */
  restart(): Promise<void>;
  /** Suspends it: it neither responds nor refuses, as on a dead network. */
  pause(): void;
  resume(): void;
  /** Ends the process and removes its folder. */
  stop(): Promise<void>;
}

export interface Place {
  /** Port for its clients. */
  port: number;
  /** Additional free ports, as many as requested. */
  extraPorts: number[];
  folder: string;
}

export interface DaemonRecipe {
  /** Part of the folder's name. */
  name: string;
  /** Program and arguments. */
  command(place: Place): string[];
  env?(place: Place): Record<string, string>;
  /** Runs once, before the first start. */
  prepare?(place: Place): Promise<void>;
  /** Returns true once the server is usable. @default it accepts a connection */
  isReady?(place: Place): Promise<boolean>;
  extraPorts?: number;
  /** Runs under this user, who owns the folder. @default the user of this process */
  user?: { uid: number; gid: number };
  /** @default 10_000 */
  startTimeoutMs?: number;
}

export async function startDaemon(recipe: DaemonRecipe): Promise<Daemon> {
  const started = await firstStart(recipe);
  const { place } = started;
  let child = started.child;
  const endNow = (): void => signal(child, 'SIGKILL');
  process.once('exit', endNow);

  return {
    port: place.port,
    get pid() {
      return hasEnded(child) ? undefined : child.pid;
    },
    kill: () => end(child),
    terminate: () => end(child, 'SIGTERM'),
    async restart() {
      await end(child);
      child = await relaunch(recipe, place);
    },
    pause: () => signal(child, 'SIGSTOP'),
    resume: () => signal(child, 'SIGCONT'),
    async stop() {
      process.removeListener('exit', endNow);
      await end(child);
      await remove(place.folder);
    },
  };
}

/**
 * Returns true if a server on the port accepts a connection and, if they are given, responds to `greeting` with `answer`.
 * Both are bytes, one per character.
 */
export function answers(port: number, greeting?: string, answer?: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      if (greeting !== undefined) socket.write(greeting, 'latin1');
      else if (answer === undefined) finish(true);
    });
    const finish = (isUp: boolean): void => {
      socket.destroy();
      resolve(isUp);
    };
    socket.setTimeout(500, () => finish(false));
    socket.once('data', (data) => finish(data.toString('latin1').startsWith(answer ?? '')));
    socket.once('error', () => finish(false));
    socket.once('end', () => finish(false));
  });
}

/** Another process may take a free port before the server binds it: other ports are tried then. */
async function firstStart(
  recipe: DaemonRecipe,
  tries = 3,
): Promise<{ place: Place; child: ChildProcess }> {
  const folder = await mkdtemp(join(tmpdir(), `redline-${recipe.name}-`));
  try {
    if (recipe.user) {
      await chown(folder, recipe.user.uid, recipe.user.gid);
      await chmod(folder, 0o700);
    }
    const place = { port: await freePort(), extraPorts: [] as number[], folder };
    for (let i = 0; i < (recipe.extraPorts ?? 0); i++) place.extraPorts.push(await freePort());
    await recipe.prepare?.(place);
    return { place, child: await launch(recipe, place) };
  } catch (error) {
    await remove(folder);
    if (tries === 1) throw error;
    lookElsewhere();
    return firstStart(recipe, tries - 1);
  }
}

function remove(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function launch(recipe: DaemonRecipe, place: Place): Promise<ChildProcess> {
  const [program, ...args] = recipe.command(place);
  const deadline = Date.now() + (recipe.startTimeoutMs ?? 10_000);
  // Detached: a Ctrl-C in the terminal must only reach the runner, which then stops the server in order. The process group
  // also ends the server's own children with it.
  const child = spawn(program!, args, {
    cwd: place.folder,
    env: { ...process.env, ...recipe.env?.(place) },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    ...recipe.user,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-4_000);
    });
  }
  await once(child, 'spawn');
  const isReady = recipe.isReady ?? ((at: Place) => answers(at.port));
  while (!(await isReady(place))) {
    if (hasEnded(child) || Date.now() > deadline) {
      await end(child);
      throw new Error(`${program} did not start on port ${place.port}; it printed:\n${output}`);
    }
    await sleep(25);
  }
  child.unref();
  for (const stream of [child.stdout, child.stderr]) {
    (stream as unknown as { unref(): void }).unref();
  }
  return child;
}

/** Retries, because resources of a crashed server, such as a port or shared memory, are freed with a delay. */
async function relaunch(recipe: DaemonRecipe, place: Place, tries = 3): Promise<ChildProcess> {
  try {
    return await launch(recipe, place);
  } catch (error) {
    if (tries === 1) throw error;
    await sleep(300);
    return relaunch(recipe, place, tries - 1);
  }
}

async function end(child: ChildProcess, name: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  if (hasEnded(child)) {
    signal(child, 'SIGKILL');
    return;
  }
  const exited = once(child, 'exit');
  child.ref();
  signal(child, name);
  await exited;
}

/** Signals the whole group: a launcher script may run between us and the server. */
function signal(child: ChildProcess, name: NodeJS.Signals): void {
  if (name === 'SIGKILL' && !hasEnded(child)) killChildren(child.pid!);
  signalGroup(child, name);
}

/**
 * Kills the children of a server: PostgreSQL starts a process in a group of its own per connection, which could still commit
 * before it notices the server's end.
 */
function killChildren(pid: number): void {
  // Stopped first, so that it starts no more of them.
  send(-pid, 'SIGSTOP');
  for (const each of childrenOf(pid)) send(each, 'SIGKILL');
}

function childrenOf(pid: number): number[] {
  try {
    const listed = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return listed.split(' ').filter(Boolean).map(Number);
  } catch {
    // Gone, or not Linux.
    return [];
  }
}

function send(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Already gone.
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
