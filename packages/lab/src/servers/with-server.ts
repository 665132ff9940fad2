import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Plan, PlannedVariant } from '../config/resolve-plan.ts';
import type { SetupResult } from '../config/types.ts';
import { LabError } from '../errors.ts';
import { type Pinning, pinSelf } from '../system/pinning.ts';
import { choosePorts } from './ports.ts';
import { Server } from './server.ts';

/** A server that is up, and what it was started with. */
export interface Started {
  server: Server;
  /** For files; it is gone when the server is. */
  folder: string;
  pinning: Pinning;
}

/**
 * Starts one variant after the plan's set-up, does the work, and leaves nothing behind.
 * @param withFolder The variant as it is started, where that depends on the folder.
 * @throws {LabError} ERR_REDLINE_SERVER, ERR_REDLINE_PORT_TAKEN, ERR_REDLINE_LOAD
 */
export async function withServer<Result>(
  plan: Plan,
  variant: PlannedVariant,
  { signal, phase }: { signal: AbortSignal; phase: (text: string) => void },
  work: (started: Started) => Promise<Result>,
  withFolder: (folder: string) => PlannedVariant = () => variant,
): Promise<Result> {
  const pinning = pinSelf(plan.pin);
  const setup: SetupResult = (await plan.setup?.()) ?? {};
  const folder = await mkdtemp(join(tmpdir(), 'redline-server-'));
  let server: Server | undefined;
  try {
    const reason = setup.skip?.[variant.name];
    if (reason !== undefined) {
      throw new LabError('ERR_REDLINE_LOAD', `"${variant.name}" cannot run here: ${reason}.`);
    }
    phase('starting');
    const [port] = await choosePorts([variant]);
    const env = setup.env ?? {};
    server = new Server(withFolder(folder), variant.name, { port: port!, env, pinning, folder });
    await server.ready(plan.readyTimeoutMs, signal);
    return await work({ server, folder, pinning });
  } finally {
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
    await setup.stop?.();
  }
}
