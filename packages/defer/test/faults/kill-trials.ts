import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { Agent, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AppSettings } from './app.ts';
import type { InboxAppSettings } from './inbox-app.ts';

/* A young generation of one size: its own growth must not be taken for that of what waits. */
const v8 = ['--expose-gc', '--min-semi-space-size=4', '--max-semi-space-size=4'];
const appFile = join(import.meta.dirname, 'app.ts');

export interface RunningApp {
  readonly child: ChildProcess;
  readonly url: string;
}

/** Undefined when the process ended before it listened, as one that is to crash may. */
export async function startApp(
  settings: AppSettings | InboxAppSettings,
  file = appFile,
  env: NodeJS.ProcessEnv = {},
): Promise<RunningApp | undefined> {
  const child = spawn(process.execPath, [...v8, file, JSON.stringify(settings)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, ...env },
  });
  const ended = once(child, 'exit').then(() => undefined);
  const message = once(child, 'message').then(([{ url }]) => ({ child, url: url as string }));
  return Promise.race([message, ended]);
}

export async function kill({ child }: RunningApp): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** Sends requests, `atOnce` at a time, until `stop()`; every id whose reply was a 200 is in `acknowledged`. */
export class Load {
  readonly acknowledged: Set<string> = new Set();
  refused = 0;
  /** How long each took that was acknowledged, in milliseconds. */
  readonly tookMs: number[] = [];
  readonly #agent = new Agent({ keepAlive: true });
  readonly #workers: Promise<void>[];
  readonly #paceMs: number;
  #url: string;
  #isStopped = false;
  static #next = 0;

  /** @param paceMs Pause of each connection after a response, in milliseconds. */
  constructor(url: string, atOnce: number, paceMs = 0) {
    this.#url = url;
    this.#paceMs = paceMs;
    this.#workers = Array.from({ length: atOnce }, () => this.#work());
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#workers);
    this.#agent.destroy();
  }

  async #work(): Promise<void> {
    while (!this.#isStopped) {
      const id = `j${Load.#next++}`;
      const sentAtMs = performance.now();
      const status = await this.#get(`/${id}`);
      if (status === 200) {
        this.acknowledged.add(id);
        this.tookMs.push(performance.now() - sentAtMs);
        if (this.#paceMs > 0) await sleep(this.#paceMs);
      } else {
        this.refused++;
        // The process is gone. Another one may be given its port, and answer for it.
        if (status === 'nobody listens') return;
        await sleep(1);
      }
    }
  }

  #get(path: string): Promise<number | 'nobody listens' | undefined> {
    return new Promise((resolve) => {
      const call = request(this.#url + path, { agent: this.#agent }, (response) => {
        response.resume();
        // The head says that the job is acknowledged; a kill may cut off the rest.
        resolve(response.statusCode);
        response.on('error', () => {});
      });
      call.on('error', ({ code }: NodeJS.ErrnoException) =>
        resolve(code === 'ECONNREFUSED' ? 'nobody listens' : undefined),
      );
      call.end();
    });
  }
}

/** How often each key came. */
export interface Received {
  get(key: string): number | undefined;
  set(key: string, times: number): unknown;
}

/** The parent as a sink: keeps how often each key came. */
export class KeyServer<R extends Received = Map<string, number>> {
  readonly received: R;
  /** While false, it refuses. */
  isUp = true;
  readonly #server: Server;

  constructor(received: R) {
    this.received = received;
    this.#server = createServer((call, response) => {
      const chunks: Buffer[] = [];
      call.on('data', (chunk: Buffer) => void chunks.push(chunk));
      call.on('end', () => {
        if (this.isUp) {
          for (const key of JSON.parse(Buffer.concat(chunks).toString()) as string[]) {
            this.received.set(key, (this.received.get(key) ?? 0) + 1);
          }
        }
        response.statusCode = this.isUp ? 200 : 503;
        response.end();
      });
    });
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/** The same numbers for the same seed, so that a failure can be seen again. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
