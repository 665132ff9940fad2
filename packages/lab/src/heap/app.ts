import type { Plan, PlannedVariant } from '../config/resolve-plan.ts';
import type { Endpoint } from '../load/endpoint.ts';
import { Inspector } from '../profile/inspector.ts';
import { inspectNode, withNodeFlags } from '../profile/instrument.ts';
import { checkContract, distinctRequests } from '../servers/contract.ts';
import { withServer } from '../servers/with-server.ts';
import { readMachine } from '../system/machine.ts';
import type { MachineFacts } from '../figures.ts';

/** A process whose memory is measured. */
export interface HeapApp {
  name: string;
  pid: number;
  endpoint: Endpoint;
  inspector: Inspector;
  /** Version of its Node. */
  node: string;
  machine: MachineFacts;
  /** Places in the report are relative to it. */
  folder: string;
}

/**
 * Starts one variant with its inspector open, checks its responses, does the work, and ends the server.
 * @throws {LabError} ERR_REDLINE_PROFILE, ERR_REDLINE_SERVER, ERR_REDLINE_CONTRACT
 */
export async function withStartedApp<Result>(
  { plan, variant }: { plan: Plan; variant: PlannedVariant },
  { signal, phase }: { signal: AbortSignal; phase: (text: string) => void },
  work: (app: HeapApp) => Promise<Result>,
): Promise<Result> {
  const { version } = await inspectNode(variant);
  const inFolder = (): PlannedVariant => withNodeFlags(variant, ['--inspect=127.0.0.1:0']);
  return withServer({ plan, variant, inFolder }, { signal, phase }, async ({ server, pinning }) => {
    phase('checking answers');
    await checkContract([server], distinctRequests(plan.requests), signal);
    await plan.verify?.(server);
    server.pin();
    using inspector = await Inspector.attach(server, signal);
    return await work({
      name: variant.name,
      pid: server.pid,
      endpoint: server,
      inspector,
      node: version,
      machine: readMachine(pinning.description),
      folder: variant.cwd,
    });
  });
}
