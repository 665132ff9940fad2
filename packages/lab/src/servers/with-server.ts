import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Plan, PlannedVariant } from '../config/resolve-plan.ts';
import type { SetupResult } from '../config/types.ts';
import { LabError } from '../errors.ts';
import { type Pinning, pinSelf } from '../system/pinning.ts';
import { choosePorts } from './ports.ts';
import { Server } from './server.ts';

/** A running server, and how it was started. */
export interface Started {
  server: Server;
  /** Folder for files; removed with the server. */
  folder: string;
  pinning: Pinning;
}

/** The variant to start, and its plan. */
export interface Start {
  plan: Plan;
  variant: PlannedVariant;
  /** Returns the variant to start if it depends on the folder. @default the variant itself */
  inFolder?: (folder: string) => PlannedVariant;
}

/**
 * Runs the plan's set-up, starts one variant, does the work, and cleans up everything.
 * @throws {LabError} ERR_REDLINE_SERVER, ERR_REDLINE_PORT_TAKEN, ERR_REDLINE_LOAD
 */
export async function withServer<Result>(
  { plan, variant, inFolder = () => variant }: Start,
  { signal, phase }: { signal: AbortSignal; phase: (text: string) => void },
  work: (started: Started) => Promise<Result>,
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
    server = new Server(inFolder(folder), variant.name, { port: port!, env, pinning, folder });
    await server.ready(plan.readyTimeoutMs, signal);
    return await work({ server, folder, pinning });
  } finally {
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
    await setup.stop?.();
  }
}
