import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, ftruncateSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PlannedVariant } from '../config/resolve-plan.ts';
import type { ServerUnderTest } from '../config/types.ts';
import { LabError } from '../errors.ts';
import { type Endpoint, findEndpoint, type Loopback, originOf } from '../load/endpoint.ts';
import { processTree } from '../system/cpu-clock.ts';
import { startGroup } from '../system/guardian.ts';
import {
  moveToServerCore,
  onAllCores,
  onServerCore,
  type Pinning,
  setBatch,
} from '../system/pinning.ts';

const stopTimeoutMs = 3_000;

export interface StartOptions {
  port: number;
  env: Record<string, string>;
  pinning: Pinning;
  /** Where its output goes. */
  folder: string;
}

/** One running variant. Its output goes to files, as it would in production: a pipe would charge its reader to the load's cores. */
export class Server implements ServerUnderTest, Endpoint {
  readonly name: string;
  readonly port: number;
  readonly probePath: string | undefined;
  readonly #child: ChildProcess;
  readonly #variantName: string;
  readonly #cwd: string;
  readonly #pinning: Pinning;
  readonly #outFile: string;
  readonly #errFile: string;
  readonly #outDescriptor: number;
  readonly #letGo: () => void;
  /** The loopback address passed to the server, which may listen on the other one. */
  #host: Loopback;
  #spawnError: Error | undefined;

  constructor(variant: PlannedVariant, name: string, options: StartOptions) {
    this.name = name;
    this.#variantName = variant.name;
    this.port = options.port;
    this.#cwd = variant.cwd;
    this.#pinning = options.pinning;
    this.probePath = variant.probe;
    const stem = join(options.folder, name.replaceAll(/[^\w.-]/g, '_'));
    this.#outFile = `${stem}.stdout`;
    this.#errFile = `${stem}.stderr`;
    this.#outDescriptor = openSync(this.#outFile, 'a');
    const errDescriptor = openSync(this.#errFile, 'a');
    const env = {
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      PORT: String(options.port),
      ...options.env,
      ...variant.env,
      // A script of the app may set PORT itself; a preload of ours still knows.
      REDLINE_PORT: String(options.port),
    };
    this.#host = env.HOST === '::1' ? '::1' : '127.0.0.1';
    const [program, ...args] = onAllCores(options.pinning, variant.command);
    // Detached gives it a process group of its own: what it starts can be ended with it,
    // and a Ctrl-C in the terminal reaches the runner alone, which then stops everything in order.
    const { child, letGo } = startGroup((mark) =>
      spawn(program!, args, {
        cwd: variant.cwd,
        env: { ...process.env, ...mark, ...env },
        stdio: ['ignore', this.#outDescriptor, errDescriptor],
        detached: true,
      }),
    );
    this.#child = child;
    this.#letGo = letGo;
    closeSync(errDescriptor);
    this.#child.on('error', (error) => {
      this.#spawnError = error;
    });
    runningServers.add(this);
  }

  /** Known once it is ready. */
  get host(): Loopback {
    return this.#host;
  }

  get url(): string {
    return originOf(this);
  }

  get pid(): number {
    return this.#child.pid!;
  }

  get hasEnded(): boolean {
    return (
      this.#spawnError !== undefined ||
      this.#child.exitCode !== null ||
      this.#child.signalCode !== null
    );
  }

  /** Resolves when the port accepts a connection, at one loopback address or the other. */
  async ready(timeoutMs: number, signal: AbortSignal): Promise<void> {
    const deadline = Date.now() + timeoutMs;
    let found: Endpoint | undefined;
    while ((found = await findEndpoint(this.port, this.#host)) === undefined) {
      signal.throwIfAborted();
      if (this.hasEnded) throw await this.failure('did not start: it exited');
      if (Date.now() > deadline) {
        throw await this.failure(
          `did not start: nothing listens on port ${this.port} after ${timeoutMs / 1_000} s`,
        );
      }
      await sleep(25);
    }
    this.#host = found.host;
    // An old process on a fixed port would answer in its place.
    if (this.hasEnded) throw await this.failure('did not start: it exited');
  }

  /** From here on it has the server's core, and nothing else. */
  pin(): void {
    for (const pid of processTree(this.pid)) moveToServerCore(this.#pinning, pid);
  }

  /** What to put before the command of a load that is to take turns with it. */
  get launcher(): string[] {
    return onServerCore(this.#pinning);
  }

  setBatch(isBatch: boolean): void {
    for (const pid of processTree(this.pid)) setBatch(pid, isBatch);
  }

  stdout(): Promise<string> {
    return readFile(this.#outFile, 'utf8');
  }

  stderr(): Promise<string> {
    return readFile(this.#errFile, 'utf8');
  }

  /** Resolves when it has ended by itself, or after this long. */
  async ended(timeoutMs: number): Promise<void> {
    if (this.hasEnded) return;
    const patience = new AbortController();
    await Promise.race([
      once(this.#child, 'exit'),
      sleep(timeoutMs, undefined, { signal: patience.signal }).catch(() => {}),
    ]);
    patience.abort();
  }

  /** Logs of a long run would fill the disk; what was written so far has been counted or is not needed. */
  dropOutput(): void {
    ftruncateSync(this.#outDescriptor);
  }

  /** The error for this server, with how it ended and the last lines it wrote. */
  async failure(what: string): Promise<LabError> {
    const { exitCode, signalCode } = this.#child;
    const how = this.#spawnError
      ? ` (${reasonOf(this.#spawnError, this.#cwd)})`
      : signalCode !== null
        ? ` by ${signalCode}`
        : exitCode !== null
          ? ` with exit code ${exitCode}`
          : '';
    const written = (await this.stderr()).trim() || (await this.stdout()).trim();
    const lastLines = written.split('\n').slice(-15).join('\n  ');
    const tail = written === '' ? 'It wrote nothing.' : `Its last lines:\n  ${lastLines}`;
    return new LabError('ERR_REDLINE_SERVER', `"${this.#variantName}" ${what}${how}. ${tail}`);
  }

  async stop(): Promise<void> {
    if (!this.hasEnded) {
      const exited = once(this.#child, 'exit');
      this.kill('SIGTERM');
      const forced = setTimeout(() => this.kill('SIGKILL'), stopTimeoutMs);
      await exited;
      clearTimeout(forced);
    }
    // What it started may have outlived it.
    this.kill('SIGKILL');
    this.#letGo();
    runningServers.delete(this);
    closeSync(this.#outDescriptor);
  }

  kill(signal: NodeJS.Signals): void {
    if (this.#child.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, signal);
    } catch {
      // The group is gone already.
    }
  }
}

function reasonOf({ code, path, message }: NodeJS.ErrnoException, cwd: string): string {
  if (code !== 'ENOENT') return message;
  return existsSync(cwd) ? `${path} was not found` : `its folder ${cwd} does not exist`;
}

const runningServers = new Set<Server>();

/** The last resort when this process must end at once. */
export function killAllServers(): void {
  for (const server of runningServers) server.kill('SIGKILL');
}
