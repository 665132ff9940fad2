import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { LabError } from '../../errors.ts';
import { checkCpuProfile, type CpuProfile } from '../../profile/cpu-profile.ts';
import { withJsonFrames } from '../../profile/json-frames.ts';
import type { ProfiledThread } from '../../profile/profiled-thread.ts';
import type { CachedRoute, Order, Report, Serving } from '../preload/protocol.ts';

export interface Observed {
  profile: CpuProfile;
  /** CPU of all Node processes of the app. */
  cpuMicros: number;
  /** Time the profiled thread was ready to run without a core. */
  waitedForCoreMicros: number;
  /** Share of the requests that the profiled thread served, estimated from CPU. */
  share: number;
  /** Undefined if no other thread of the app runs JavaScript. */
  profiled: ProfiledThread | undefined;
  blockedMs: { longest: number; p99: number };
  node: string;
  serving: Serving | undefined;
  /** Number of threads without a profile: they were blocked, and not by JavaScript. */
  silentThreads: number;
  cachedRoutes: readonly CachedRoute[] | undefined;
}

const patienceMs = 20_000;
/** An idle pool thread may block in Atomics.wait, and then does not respond. */
const workerPatienceMs = 1_000;

interface Thread {
  socket: Socket;
  /** Undefined until it reports. */
  isMain?: boolean;
  last?: Report['type'];
  stopped?: Stopped;
}

/** Accepts connections from the threads of an app, and has them profile themselves. */
export class Observation implements AsyncDisposable {
  readonly path: string;
  readonly #server: Server;
  readonly #threads = new Set<Thread>();
  #isTaking = false;

  private constructor(path: string, server: Server) {
    this.path = path;
    this.#server = server;
    server.on('connection', (socket) => {
      const thread: Thread = { socket };
      this.#threads.add(thread);
      socket.on('close', () => this.#threads.delete(thread));
      const lines = createInterface({ input: socket });
      // A thread that ends resets its connection; readline forwards the error.
      for (const each of [socket, lines]) each.on('error', () => {});
      lines.on('line', (line) => {
        const report = JSON.parse(line) as Report;
        thread.last = report.type;
        if (report.type === 'here') thread.isMain = report.isMainThread;
        if (report.type === 'stopped') thread.stopped = report;
      });
      // Pools start their threads under load.
      if (this.#isTaking) send(socket, { type: 'start' });
    });
  }

  static async listen(path: string): Promise<Observation> {
    const server = createServer().listen(path);
    await once(server, 'listening');
    return new Observation(path, server);
  }

  async start(signal: AbortSignal): Promise<void> {
    this.#isTaking = true;
    this.#sendAll({ type: 'start' });
    await this.#until('started', signal);
  }

  /**
   * Returns the profile of the busiest thread.
   * @throws {LabError} ERR_REDLINE_PROFILE
   */
  async stop(signal: AbortSignal): Promise<Observed> {
    this.#isTaking = false;
    this.#sendAll({ type: 'stop' });
    await this.#until('stopped', signal);
    const reports = [...this.#threads].flatMap(({ stopped }) =>
      stopped?.profile === undefined ? [] : [stopped],
    );
    const [busiest] = reports.toSorted((a, b) => timeOf(b) - timeOf(a));
    if (busiest === undefined) throw unreached();
    const { profile, waitedForCoreMicros, node } = busiest;
    // The main thread accepts the requests, whichever thread does the work.
    const { blockedMs, serving, cachedRoutes } =
      reports.find(
        ({ thread, process }) => thread.id === 0 && process.pid === busiest.process.pid,
      ) ?? busiest;
    // A process that only starts others, such as npm or the primary of a cluster, uses almost no CPU.
    const alike = reports.filter(({ thread }) => thread.script === busiest.thread.script);
    const all = alike.reduce((sum, each) => sum + timeOf(each), 0);
    const cpuMicros = cpuOf(reports);
    return {
      profile: withJsonFrames(checkCpuProfile(profile, 'The profile of the app')),
      cpuMicros,
      waitedForCoreMicros,
      share: all === 0 ? 1 : timeOf(busiest) / all,
      profiled: describe(busiest, reports, cpuMicros),
      blockedMs,
      node,
      serving,
      silentThreads: this.#threads.size - reports.length,
      cachedRoutes,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { socket } of this.#threads) socket.destroy();
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }

  #sendAll(order: Order): void {
    for (const { socket } of this.#threads) send(socket, order);
  }

  async #until(type: Report['type'], signal: AbortSignal): Promise<void> {
    const deadline = Date.now() + patienceMs;
    const workerDeadline = Date.now() + workerPatienceMs;
    const isComplete = (): boolean => {
      const threads = [...this.#threads];
      const missing = threads.filter(({ last }) => last !== type);
      if (!threads.some(({ isMain }) => isMain) || missing.some(({ isMain }) => isMain))
        return false;
      return missing.length === 0 || Date.now() > workerDeadline;
    };
    while (!isComplete()) {
      signal.throwIfAborted();
      if (Date.now() > deadline) throw unreached();
      await sleep(10);
    }
  }
}

function send(socket: Socket, order: Order): void {
  socket.write(`${JSON.stringify(order)}\n`);
}

type Stopped = Extract<Report, { type: 'stopped' }>;

/** Returns the CPU of the thread; that of its process if the system does not report it by thread. */
function timeOf({ thread, process }: Stopped): number {
  return thread.cpuMicros ?? process.cpuMicros;
}

/** Sums CPU, counting each process once. */
function cpuOf(reports: readonly Stopped[]): number {
  const byProcess = new Map(reports.map(({ process }) => [process.pid, process.cpuMicros]));
  return [...byProcess.values()].reduce((sum, micros) => sum + micros, 0);
}

/** A thread with a smaller share, such as npm's, does not serve. */
const minShare = 0.05;

function describe(
  busiest: Stopped,
  reports: readonly Stopped[],
  cpuMicros: number,
): ProfiledThread | undefined {
  const { thread, process } = busiest;
  const working = reports.filter((each) => timeOf(each) >= cpuMicros * minShare);
  if (working.length <= 1) return undefined;
  const processes = new Set(working.map((each) => each.process.pid)).size;
  return {
    kind: thread.script !== undefined ? 'worker thread' : processes > 1 ? 'process' : 'main thread',
    pid: process.pid,
    ...(thread.script === undefined ? {} : { script: thread.script }),
    processes,
    threads: working.length,
    share: cpuMicros === 0 ? 1 : timeOf(busiest) / cpuMicros,
  };
}

function unreached(): LabError {
  return new LabError(
    'ERR_REDLINE_PROFILE',
    'The app could not be profiled: it must be a program of Node that NODE_OPTIONS reaches.',
  );
}
