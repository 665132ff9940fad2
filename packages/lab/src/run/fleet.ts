import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Plan, PlannedVariant } from '../config/resolve-plan.ts';
import { LabError } from '../errors.ts';
import { inParallel } from './in-parallel.ts';
import type { Pinning } from './pinning.ts';
import { acceptsConnection, Server } from './server.ts';

/** One contestant: a variant, or the baseline a second time. */
export interface Contestant {
  name: string;
  variant: PlannedVariant;
}

/** All contestants of one restart, up at the same time so that blocks can interleave them. */
export class Fleet implements AsyncDisposable {
  readonly servers: Server[] = [];
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** @throws {LabError} ERR_REDLINE_SERVER, ERR_REDLINE_PORT_TAKEN; nothing is left running then */
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
      // As many at once as there are cores: a dozen that start together on two run into their time-outs.
      await inParallel(contestants, options.pinning.coreCount, async ({ name, variant }) => {
        options.signal.throwIfAborted();
        options.onStart(name);
        const port = await choosePort(variant);
        const server = new Server(variant, name, { ...options, port, folder: fleet.#folder });
        fleet.servers.push(server);
        await server.ready(plan.readyTimeoutMs, options.signal);
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

async function choosePort({ name, port }: PlannedVariant): Promise<number> {
  if (port === undefined) return freePort();
  if (await acceptsConnection(port)) {
    throw new LabError(
      'ERR_REDLINE_PORT_TAKEN',
      `Port ${port} of "${name}" is taken by another process; end it, or leave "port" out to get a free one.`,
    );
  }
  return port;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
