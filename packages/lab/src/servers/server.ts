import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, ftruncateSync, openSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { PlannedVariant } from '../config/resolve-plan.ts';
import type { ServerUnderTest } from '../config/types.ts';
import { LabError } from '../errors.ts';
import {
  type Endpoint,
  findEndpoint,
  type Loopback,
  originOf,
  type Session,
} from '../load/endpoint.ts';
import { processTree } from '../system/cpu-clock.ts';
import { type Mark, startGroup } from '../system/guardian.ts';
import { markedProcesses } from '../system/marked.ts';
import {
  moveToServerCore,
  onAllCores,
  onServerCore,
  type Pinning,
  setBatch,
} from '../system/pinning.ts';
import { refuseLauncher } from './launched-app.ts';

const stopTimeoutMs = 3_000;
/** Time for a killed process to disappear: it does so as soon as it gets a core. */
const goneWithinMs = 5_000;

/** Preloaded into every Node program before it serves; docs/design/lab.md explains why. */
const handOver = fileURLToPath(new URL('../../preload/hand-over.cjs', import.meta.url));

export interface StartOptions {
  port: number;
  env: Record<string, string>;
  pinning: Pinning;
  /** Folder for its output. */
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
  readonly #handedOverFile: string;
  readonly #mark: Mark;
  readonly #letGo: () => void;
  /** The loopback address passed to the server, which may listen on the other one. */
  #host: Loopback;
  /** Set after a login. */
  session: Session | undefined;
  #spawnError: Error | undefined;

  /** @throws {LabError} ERR_REDLINE_LAUNCHER if the command starts a launcher */
  constructor(variant: PlannedVariant, name: string, options: StartOptions) {
    refuseLauncher(variant, variant.cwd);
    this.name = name;
    this.#variantName = variant.name;
    this.port = options.port;
    this.#cwd = variant.cwd;
    this.#pinning = options.pinning;
    this.probePath = variant.probe;
    const stem = join(options.folder, name.replaceAll(/[^\w.-]/g, '_'));
    this.#outFile = `${stem}.stdout`;
    this.#errFile = `${stem}.stderr`;
    this.#handedOverFile = `${stem}.handed-over`;
    this.#outDescriptor = openSync(this.#outFile, 'a');
    const errDescriptor = openSync(this.#errFile, 'a');
    const env = {
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      PORT: String(options.port),
      // The user's daemons run the user's apps, and would restart them with this environment.
      PM2_HOME: `${stem}.pm2`,
      FOREVER_ROOT: `${stem}.forever`,
      ...options.env,
      ...variant.env,
      // A script of the app may set PORT itself; our preload still needs the assigned port.
      REDLINE_PORT: String(options.port),
      REDLINE_HANDED_OVER: this.#handedOverFile,
    };
    this.#host = env.HOST === '::1' ? '::1' : '127.0.0.1';
    const [program, ...args] = onAllCores(options.pinning, variant.command);
    // Detached gives it its own process group: its child processes can be ended with it, and a Ctrl-C in the terminal only reaches
    // the runner, which then stops everything in order.
    const preload = isForeign(variant.command) ? {} : withHandOver(variant.env);
    const { child, mark, letGo } = startGroup((own) =>
      spawn(program!, args, {
        cwd: variant.cwd,
        env: { ...process.env, ...own, ...env, ...preload },
        stdio: ['ignore', this.#outDescriptor, errDescriptor],
        detached: true,
      }),
    );
    this.#child = child;
    this.#mark = mark;
    this.#letGo = letGo;
    closeSync(errDescriptor);
    this.#child.on('error', (error) => {
      this.#spawnError = error;
    });
    runningServers.add(this);
  }

  /** Known once the server is ready. */
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
    // An old process on a fixed port would respond in its place.
    if (this.hasEnded) throw await this.failure('did not start: it exited');
    this.requireOwn();
  }

  /** Finds the loopback address of a server that is known to listen. */
  async locate(): Promise<void> {
    const found = await findEndpoint(this.port, this.#host);
    if (found !== undefined) this.#host = found.host;
  }

  /**
   * Refuses to measure an app that another program started.
   * @throws {LabError} ERR_REDLINE_LAUNCHER if a process outside this server has its environment
   */
  requireOwn(): void {
    const error = this.#handedOver();
    if (error !== undefined) throw error;
  }

  /** Restricts the server to its own core. */
  pin(): void {
    for (const pid of processTree(this.pid)) moveToServerCore(this.#pinning, pid);
  }

  /** Returns the command prefix of a load that takes turns with the server on its core. */
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

  /** Resolves when the process has ended by itself, or after the time-out. */
  async ended(timeoutMs: number): Promise<void> {
    if (this.hasEnded) return;
    const patience = new AbortController();
    await Promise.race([
      once(this.#child, 'exit'),
      sleep(timeoutMs, undefined, { signal: patience.signal }).catch(() => {}),
    ]);
    patience.abort();
  }

  /** Truncates the log: over a long run it would fill the disk, and its content so far has been counted or is not needed. */
  dropOutput(): void {
    ftruncateSync(this.#outDescriptor);
  }

  /** Returns the error for this server, with how it ended and the last lines it wrote. */
  async failure(what: string): Promise<LabError> {
    const { exitCode, signalCode } = this.#child;
    const how = this.#spawnError
      ? ` (${reasonOf(this.#spawnError, this.#cwd)})`
      : signalCode !== null
        ? ` by ${signalCode}`
        : exitCode !== null
          ? ` with exit code ${exitCode}`
          : '';
    const handedOver = this.#handedOver();
    if (handedOver !== undefined) return handedOver;
    const written = (await this.stderr()).trim() || (await this.stdout()).trim();
    const lastLines = written.split('\n').slice(-15).join('\n  ');
    const tail = written === '' ? 'It wrote nothing.' : `Its last lines:\n  ${lastLines}`;
    return new LabError('ERR_REDLINE_SERVER', `"${this.#variantName}" ${what}${how}. ${tail}`);
  }

  #handedOver(): LabError | undefined {
    const what = this.#receiver();
    if (what === undefined) return undefined;
    return new LabError(
      'ERR_REDLINE_LAUNCHER',
      `The command of "${this.#variantName}" hands the app to a process that is not a part of it: ${what}. Give the program that serves: -- node FILE.`,
    );
  }

  /** Describes the process that received its environment, or was about to. */
  #receiver(): string | undefined {
    if (existsSync(this.#handedOverFile)) {
      const [to] = readFileSync(this.#handedOverFile, 'utf8').split('\n');
      return `it was about to send its environment to ${to}, and was ended before`;
    }
    const { own, foreign } = markedProcesses(this.#mark.REDLINE_STARTED_AS);
    if (foreign.length > 0) {
      return `process ${foreign[0]} runs with its environment now, started by a daemon that was there before. Restart that app as you started it`;
    }
    const left = own.filter((pid) => pid !== this.#child.pid);
    return this.#child.exitCode === 0 && left.length > 0
      ? `it ended with exit code 0 and left process ${left[0]} behind, which is ended now`
      : undefined;
  }

  async stop(): Promise<void> {
    if (!this.hasEnded) {
      const exited = once(this.#child, 'exit');
      this.kill('SIGTERM');
      const forced = setTimeout(() => this.kill('SIGKILL'), stopTimeoutMs);
      await exited;
      clearTimeout(forced);
    }
    // Its child processes may have outlived it.
    await this.#endStrays();
    this.#letGo();
    runningServers.delete(this);
    closeSync(this.#outDescriptor);
  }

  /** Kills remaining child processes: one may be a daemon with its own process group. */
  async #endStrays(): Promise<void> {
    const deadline = Date.now() + goneWithinMs;
    while (this.killAll() > 0 && Date.now() < deadline) await sleep(10);
  }

  kill(signal: NodeJS.Signals): void {
    if (this.#child.pid !== undefined) signalTo(-this.#child.pid, signal);
  }

  /** @returns number of processes that were still running besides its group */
  killAll(): number {
    this.kill('SIGKILL');
    const { own } = markedProcesses(this.#mark.REDLINE_STARTED_AS);
    for (const pid of own) signalTo(pid, 'SIGKILL');
    return own.length;
  }
}

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has already exited.
  }
}

/** True for runtimes that do not support Node's preload. */
function isForeign([program = '']: readonly string[]): boolean {
  return /^(bun|deno)(\.exe)?$/.test(basename(program));
}

function withHandOver(env: Readonly<Record<string, string>>): { NODE_OPTIONS: string } {
  const given = env['NODE_OPTIONS'] ?? process.env['NODE_OPTIONS'];
  const file = /\s/.test(handOver) ? `"${handOver}"` : handOver;
  return { NODE_OPTIONS: `${given ? `${given} ` : ''}--require=${file}` };
}

function reasonOf({ code, path, message }: NodeJS.ErrnoException, cwd: string): string {
  if (code !== 'ENOENT') return message;
  return existsSync(cwd) ? `${path} was not found` : `its folder ${cwd} does not exist`;
}

const runningServers = new Set<Server>();

/** Kills all servers; the last resort when this process must end at once. */
export function killAllServers(): void {
  for (const server of runningServers) server.killAll();
}
