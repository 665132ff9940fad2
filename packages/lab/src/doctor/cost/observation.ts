import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { LabError } from '../../errors.ts';
import { checkCpuProfile, type CpuProfile } from '../../profile/cpu-profile.ts';
import { jsonFramesUrl } from '../preload/json-frames.ts';
import type { CachedRoute, Order, Report, Serving } from '../preload/protocol.ts';

export interface Observed {
  profile: CpuProfile;
  cpuMicros: number;
  /** How long its main thread had no core meanwhile. */
  waitedForCoreMicros: number;
  /** Share of the requests that this process served, as far as CPU tells. */
  share: number;
  blockedMs: { longest: number; p99: number };
  node: string;
  serving: Serving | undefined;
  cachedRoutes: readonly CachedRoute[] | undefined;
}

const patienceMs = 20_000;

/** Listens for the processes of an app, and has them take a profile of themselves. */
export class Observation implements AsyncDisposable {
  readonly path: string;
  readonly #server: Server;
  readonly #processes = new Set<{ socket: Socket; last: Report }>();

  private constructor(path: string, server: Server) {
    this.path = path;
    this.#server = server;
    server.on('connection', (socket) => {
      const process = { socket, last: { type: 'here' } as Report };
      this.#processes.add(process);
      socket.on('error', () => {});
      socket.on('close', () => this.#processes.delete(process));
      createInterface({ input: socket }).on('line', (line) => {
        process.last = JSON.parse(line) as Report;
      });
    });
  }

  static async listen(path: string): Promise<Observation> {
    const server = createServer().listen(path);
    await once(server, 'listening');
    return new Observation(path, server);
  }

  async start(signal: AbortSignal): Promise<void> {
    this.#ask({ type: 'start' });
    await this.#until('started', signal);
  }

  /**
   * The profile of the process that worked most.
   * @throws {LabError} ERR_REDLINE_PROFILE
   */
  async stop(signal: AbortSignal): Promise<Observed> {
    this.#ask({ type: 'stop' });
    await this.#until('stopped', signal);
    const reports = [...this.#processes].flatMap(({ last }) =>
      last.type === 'stopped' ? [last] : [],
    );
    const [most] = reports.toSorted((a, b) => b.cpuMicros - a.cpuMicros);
    if (most === undefined) throw unreached();
    // What waits beside it, as npm does, takes next to nothing.
    const all = reports.reduce((sum, { cpuMicros }) => sum + cpuMicros, 0);
    const { profile, cpuMicros, waitedForCoreMicros, blockedMs, node, serving, cachedRoutes } =
      most;
    return {
      profile: withJsonFrames(checkCpuProfile(profile, 'The profile of the app')),
      cpuMicros,
      waitedForCoreMicros,
      share: all === 0 ? 1 : cpuMicros / all,
      blockedMs,
      node,
      serving,
      cachedRoutes,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { socket } of this.#processes) socket.destroy();
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }

  #ask(order: Order): void {
    for (const { socket } of this.#processes) socket.write(`${JSON.stringify(order)}\n`);
  }

  async #until(type: Report['type'], signal: AbortSignal): Promise<void> {
    const deadline = Date.now() + patienceMs;
    const isMissing = (): boolean => [...this.#processes].some(({ last }) => last.type !== type);
    while (this.#processes.size === 0 || isMissing()) {
      signal.throwIfAborted();
      if (Date.now() > deadline) throw unreached();
      await sleep(10);
    }
  }
}

/** The functions around JSON's builtins are read as the builtins. */
function withJsonFrames(profile: CpuProfile): CpuProfile {
  const nodes = profile.nodes.map((node) => {
    const { url, functionName } = node.callFrame;
    if (url !== jsonFramesUrl) return node;
    const callFrame = {
      functionName: `JSON.${functionName}`,
      url: '',
      lineNumber: -1,
      columnNumber: -1,
    };
    return { ...node, callFrame };
  });
  return { ...profile, nodes };
}

function unreached(): LabError {
  return new LabError(
    'ERR_REDLINE_PROFILE',
    'The app could not be profiled: it must be a program of Node that NODE_OPTIONS reaches.',
  );
}
