import type { Plan } from '../../config/resolve-plan.ts';
import { withSession } from '../../load/endpoint.ts';
import { HeldLoad } from '../../load/held-load.ts';
import { longestPause, watchThreads } from './longest-pause.ts';
import type { Observations } from '../observations.ts';
import type { Turn } from '../result.ts';
import { shuffled, type Random } from '../../stats/random.ts';
import { cpuBetween, readCpu } from '../../system/cpu-clock.ts';
import type { Server } from '../../servers/server.ts';
import { untilIdle } from '../../servers/until-idle.ts';

/** Load before each slice, to warm caches and reopen connections. */
const guardMs = 6;
const minSliceMs = 40;
/** Requests of the slowest server in a slice; routes that take seconds get fewer. */
const requestsPerSlice = 4;
const maxSliceMs = 1_000;
/** The requests of all connections complete within this time. */
const maxQueueMs = 100;
const passesInABlock = 8;
/**
 * A server is done when it has used no CPU for this long and is not waiting for CPU: on a busy machine it may not get
 * the core.
 */
const quietMs = 3;
const maxWaitMs = 300;
const endedKnownMs = 100;
/**
 * A server that waits, e.g. for a database, is watched until it was idle for this long, or for twice its response time if longer.
 */
const minWatchMs = 150;
const maxWatchMs = 1_000;
const readings = 3;
/** Allows for readings in which the load gets no turn to send. */
const maxReadings = 6;
/** The time of three samples that all saw the server at work; not worth another reading. */
const shortPauseMs = 3;
/** Restarts without a pause after which a server counts as having none. */
const restartsWithoutPause = 2;

/** Runs a piece of work, and repeats it if something outside has slowed it down. */
export type Repeated = <Result>(work: () => Promise<Result>) => Promise<Result>;

export interface TurnsOptions {
  servers: readonly Server[];
  plan: Plan;
  observations: Pick<Observations, 'generator'>;
  /** Requests per second of the slowest server. Sizes the slices and connections of all servers alike. */
  slowestRps: number | undefined;
  /** By name, in ms: servers that hardly waited in two restarts are not watched again. */
  shortPauses: Map<string, number[]>;
  signal: AbortSignal;
}

/**
 * Measures CPU per request with server and load on one core, taking turns as batch tasks: there the cost of a response
 * does not depend on whether the load is awake.
 */
export class Turns {
  readonly #loads: Map<Server, HeldLoad>;
  readonly #sliceMs: number;
  readonly #watchMs: number;
  readonly #shortPauses: Map<string, number[]>;
  readonly #signal: AbortSignal;
  /** Max idle time of each server before it has responded to everything. */
  readonly #pauses = new Map<Server, number>();

  private constructor(
    loads: Map<Server, HeldLoad>,
    { sliceMs, watchMs }: Pick<Sizes, 'sliceMs' | 'watchMs'>,
    { shortPauses, signal }: Pick<TurnsOptions, 'shortPauses' | 'signal'>,
  ) {
    this.#loads = loads;
    this.#sliceMs = sliceMs;
    this.#watchMs = watchMs;
    this.#shortPauses = shortPauses;
    this.#signal = signal;
  }

  /** Returns undefined if the plan does not ask for turns, nothing is pinned, or the generator cannot be pinned. */
  static async start({
    servers,
    plan,
    observations: { generator },
    slowestRps,
    shortPauses,
    signal,
  }: TurnsOptions): Promise<Turns | undefined> {
    if (!plan.turns || !generator.launches || servers.some((each) => each.launcher.length === 0)) {
      return undefined;
    }
    const sizes = sizesFor(slowestRps, plan.connections);
    const { connections } = sizes;
    const turns = new Turns(new Map(), sizes, { shortPauses, signal });
    try {
      // Waits for all before a failed one ends the run: none may be left running.
      const starts = await Promise.allSettled(
        servers.map(async (server) => {
          const { host, port, launcher } = server;
          const requests = withSession(server, plan.requests);
          const where = { host, port, launcher };
          const load = await HeldLoad.start({ ...plan, requests, connections, ...where, signal });
          turns.#loads.set(server, load);
        }),
      );
      const failed = starts.find((start) => start.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
      return turns;
    } catch (error) {
      await turns[Symbol.asyncDispose]();
      throw error;
    }
  }

  /**
   * Measures one block: eight turns of each server, in a new order in each pass.
   * @param passes Fewer for passes that do not count.
   */
  async measure(
    servers: readonly Server[],
    random: Random,
    repeated: Repeated,
    passes: number = passesInABlock,
  ): Promise<Map<string, Turn[]>> {
    const taken = new Map<string, Turn[]>(servers.map(({ name }) => [name, []]));
    for (const server of servers) server.setBatch(true);
    for (let pass = 0; pass < passes; pass++) {
      for (const server of shuffled(servers, random)) {
        const turn = await repeated(() => this.#measureOne(server)).catch((error: unknown) =>
          fail(server, error),
        );
        if (turn !== undefined) taken.get(server.name)!.push(turn);
      }
    }
    for (const server of servers) server.setBatch(false);
    return taken;
  }

  async #measureOne(server: Server): Promise<Turn | undefined> {
    const load = this.#loads.get(server)!;
    if (!this.#pauses.has(server)) this.#pauses.set(server, await this.#shortestPause(server));
    await load.run(guardMs, this.#signal);
    await this.#untilDone(server);
    const sentBefore = load.sent;
    const before = readCpu(server.pid);
    await load.run(this.#sliceMs, this.#signal);
    await this.#untilDone(server);
    const { totalMicros, mainThreadMicros } = cpuBetween(before, readCpu(server.pid));
    if (server.hasEnded) throw await server.failure('ended while it was measured');
    server.dropOutput();
    const requests = load.sent - sentBefore;
    if (requests <= 0 || totalMicros <= 0) return undefined;
    return {
      requests,
      cpuMicros: totalMicros,
      ...(mainThreadMicros === undefined ? {} : { mainThreadMicros }),
    };
  }

  /** Waits until everything sent has a response and the server sleeps: the clock of a thread is exact only while it sleeps. */
  #untilDone(server: Server): Promise<void> {
    const quietFor = quietMs + 1.5 * this.#pauses.get(server)!;
    const maxMs = maxWaitMs + 3 * quietFor;
    return untilIdle(server.pid, { quietMs: quietFor, maxMs }, this.#signal);
  }

  /** Returns the minimum of a few readings: waits of the app are in all of them, disturbances of a busy machine are not. */
  async #shortestPause(server: Server): Promise<number> {
    const known = this.#shortPauses.get(server.name) ?? [];
    if (known.length >= restartsWithoutPause) return Math.max(...known);
    let [shortest, made] = [this.#watchMs, 0];
    for (
      let tries = 0;
      tries < maxReadings && made < readings && shortest > shortPauseMs;
      tries++
    ) {
      const pause = await this.#longestPause(server);
      if (pause === undefined) continue;
      made++;
      shortest = Math.min(shortest, pause);
    }
    if (shortest <= shortPauseMs) this.#shortPauses.set(server.name, [...known, shortest]);
    return shortest;
  }

  /**
   * Returns the longest time in which the server was idle while requests were still open: it waited, and is done only when it has
   * been idle for longer. Undefined if nothing was sent.
   */
  async #longestPause(server: Server): Promise<number | undefined> {
    const load = this.#loads.get(server)!;
    const sentBefore = load.sent;
    const [samples, sentUntilMs] = await Promise.all([
      watchThreads(server.pid, this.#watchMs, this.#signal),
      load.run(guardMs, this.#signal).then(() => performance.now()),
    ]);
    const requests = load.sent - sentBefore;
    if (requests === 0) return undefined;
    const perRequest = samples.at(-1)!.usedMicros / requests;
    return longestPause(samples, { sentUntilMs, minMicros: perRequest / 4 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#loads.values()].map((load) => load.stop()));
  }
}

/** Throws the server's failure: a load whose server is gone fails before the server's exit is known here. */
async function fail(server: Server, error: unknown): Promise<never> {
  await server.ended(endedKnownMs);
  throw server.hasEnded ? await server.failure('ended while it was measured') : error;
}

interface Sizes {
  sliceMs: number;
  connections: number;
  watchMs: number;
}

/** Gives a route of 50 ms fewer connections and longer slices, so that it completes its requests. */
function sizesFor(slowestRps: number | undefined, connections: number): Sizes {
  if (slowestRps === undefined) {
    return { sliceMs: minSliceMs, connections, watchMs: minWatchMs };
  }
  const wanted = (requestsPerSlice * 1_000) / slowestRps;
  const answeredInTime = Math.ceil((slowestRps * maxQueueMs) / 1_000);
  const responseMs = (connections * 1_000) / slowestRps;
  return {
    sliceMs: Math.min(Math.max(minSliceMs, wanted), maxSliceMs),
    connections: Math.min(connections, Math.max(1, answeredInTime)),
    watchMs: Math.min(Math.max(minWatchMs, 2 * responseMs), maxWatchMs),
  };
}
