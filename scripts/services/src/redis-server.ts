import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findOnPath } from './find-on-path.ts';
import { freePort } from './free-port.ts';

const startTimeoutMs = 10_000;

/** A Redis of our own: empty, in memory, on loopback, gone after `stop()`. */
export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Process id of the server now running; undefined while it is down. */
  readonly pid: number | undefined;
  /** Ends the process at once, as a crash would. The data is lost. */
  kill(): Promise<void>;
  /** Starts it again, empty, on the same port. */
  restart(): Promise<void>;
  /** Ends the process and removes its folder. */
  stop(): Promise<void>;
}

/** Undefined where neither redis-server nor valkey-server is on PATH. */
export async function startRedis(): Promise<RedisServer | undefined> {
  const program = findOnPath('redis-server', 'valkey-server');
  if (program === undefined) return undefined;
  const folder = await mkdtemp(join(tmpdir(), 'redline-redis-'));
  const port = await freePort();
  let child = await launch(program, folder, port);

  const endNow = (): void => void child.kill('SIGKILL');
  process.once('exit', endNow);

  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    get pid() {
      return hasEnded(child) ? undefined : child.pid;
    },
    kill: () => end(child),
    async restart() {
      await end(child);
      child = await launch(program, folder, port);
    },
    async stop() {
      process.removeListener('exit', endNow);
      await end(child);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function launch(program: string, folder: string, port: number): Promise<ChildProcess> {
  const settings = { port, bind: '127.0.0.1', dir: folder, save: '', appendonly: 'no' };
  const args = Object.entries(settings).flatMap(([key, value]) => [`--${key}`, String(value)]);
  // Detached: a Ctrl-C in the terminal must reach the runner alone, which then stops the server in order.
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-4_000);
  });
  await once(child, 'spawn');
  const deadline = Date.now() + startTimeoutMs;
  while (!(await answersPing(port))) {
    if (hasEnded(child) || Date.now() > deadline) {
      await end(child);
      throw new Error(`${program} did not come up on port ${port}; it printed:\n${output}`);
    }
    await sleep(20);
  }
  child.unref();
  (child.stdout as unknown as { unref(): void }).unref();
  return child;
}

function answersPing(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    const finish = (answered: boolean): void => {
      socket.destroy();
      resolve(answered);
    };
    socket.setTimeout(500, () => finish(false));
    socket.once('data', (data) => finish(data.toString().startsWith('+PONG')));
    socket.once('error', () => finish(false));
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const exited = once(child, 'exit');
  child.ref();
  child.kill('SIGKILL');
  await exited;
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
