import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Plan, PlannedVariant } from '../config/resolve-plan.ts';
import { inParallel } from '../system/in-parallel.ts';
import type { Pinning } from '../system/pinning.ts';
import { choosePorts } from './ports.ts';
import { Server } from './server.ts';
import { signIn } from './sign-in.ts';

/** One contestant: a variant, or the baseline a second time. */
export interface Contestant {
  name: string;
  variant: PlannedVariant;
}

/** All contestants of one restart, running at the same time so that blocks can interleave them. */
export class Fleet implements AsyncDisposable {
  readonly servers: Server[] = [];
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** @throws {LabError} ERR_REDLINE_SERVER, ERR_REDLINE_PORT_TAKEN; no process is left running */
  static async start(
    contestants: readonly Contestant[],
    plan: Plan,
    options: {
      env: Record<string, string>;
      pinning: Pinning;
      signal: AbortSignal;
      onStart: (name: string) => void;
    },
  ): Promise<Fleet> {
    const fleet = new Fleet(await mkdtemp(join(tmpdir(), 'redline-run-')));
    try {
      // At most one per core at a time: a dozen that start together on two cores run into their time-outs.
      const ports = await choosePorts(contestants.map(({ variant }) => variant));
      const starts = contestants.map((contestant, index) => ({
        ...contestant,
        port: ports[index]!,
      }));
      await inParallel(starts, options.pinning.coreCount, async ({ name, variant, port }) => {
        options.signal.throwIfAborted();
        options.onStart(name);
        const server = new Server(variant, name, { ...options, port, folder: fleet.#folder });
        fleet.servers.push(server);
        await server.ready(plan.readyTimeoutMs, options.signal);
        if (plan.login !== undefined) await signIn(server, plan.login);
      });
      return fleet;
    } catch (error) {
      await fleet[Symbol.asyncDispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
    await rm(this.#folder, { recursive: true, force: true });
  }
}
