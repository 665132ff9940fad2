import { setTimeout as sleep } from 'node:timers/promises';
import type { Plan } from '../config/resolve-plan.ts';
import { HeldLoad } from '../load/held-load.ts';
import type { LoadGenerator } from '../load/generator.ts';
import type { Turn } from '../result.ts';
import { shuffled, type Random } from '../stats/random.ts';
import { cpuBetween, isRunnable, readCpu } from './cpu-clock.ts';
import type { Server } from './server.ts';

/** Runs before a slice, for caches to be warm and connections to be open again. */
const guardMs = 6;
const sliceMs = 40;
/** Of each block. */
const passes = 8;
/** A server is done when it has used no CPU for this long and waits for none: on a crowded machine it may not get the core. */
const quietMs = 3;
const mostWaitMs = 300;

/**
 * Reads CPU per request with server and load on one core, taking turns as batch tasks: what an answer costs does not depend
 * there on whether the load is awake.
 */
export class Turns {
  readonly #loads: Map<Server, HeldLoad>;
  readonly #signal: AbortSignal;

  private constructor(loads: Map<Server, HeldLoad>, signal: AbortSignal) {
    this.#loads = loads;
    this.#signal = signal;
  }

  /** Undefined where the plan does not ask for it, nothing is pinned, or the generator cannot be. */
  static async start(
    servers: readonly Server[],
    plan: Plan,
    generator: LoadGenerator,
    signal: AbortSignal,
  ): Promise<Turns | undefined> {
    if (!plan.turns || !generator.launches || servers.some((each) => each.launcher.length === 0)) {
      return undefined;
    }
    const turns = new Turns(new Map(), signal);
    try {
      // All have come to an end before one that failed ends the run: none may be left behind.
      const starts = await Promise.allSettled(
        servers.map(async (server) => {
          const { port, launcher } = server;
          turns.#loads.set(server, await HeldLoad.start({ ...plan, port, launcher, signal }));
        }),
      );
      const failed = starts.find((start) => start.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
      return turns;
    } catch (error) {
      turns[Symbol.dispose]();
      throw error;
    }
  }

  /** One block: eight turns of each server, in an order of its own each time. */
  async measure(servers: readonly Server[], random: Random): Promise<Map<string, Turn[]>> {
    const taken = new Map<string, Turn[]>(servers.map(({ name }) => [name, []]));
    for (const server of servers) server.setBatch(true);
    for (let pass = 0; pass < passes; pass++) {
      for (const server of shuffled(servers, random)) {
        const turn = await this.#measureOne(server);
        if (turn !== undefined) taken.get(server.name)!.push(turn);
      }
    }
    for (const server of servers) server.setBatch(false);
    return taken;
  }

  async #measureOne(server: Server): Promise<Turn | undefined> {
    const load = this.#loads.get(server)!;
    await load.run(guardMs, this.#signal);
    await this.#untilDone(server);
    const sentBefore = load.sent;
    const before = readCpu(server.pid);
    await load.run(sliceMs, this.#signal);
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

  /** The clock of a thread is exact only while the thread sleeps, and what was sent has to be answered. */
  async #untilDone(server: Server): Promise<void> {
    const deadline = performance.now() + mostWaitMs;
    let last = -1;
    while (performance.now() < deadline) {
      await sleep(quietMs, undefined, { signal: this.#signal });
      const { totalMicros } = readCpu(server.pid);
      if (totalMicros === last && !isRunnable(server.pid)) return;
      last = totalMicros;
    }
  }

  [Symbol.dispose](): void {
    for (const load of this.#loads.values()) load.stop();
  }
}
