import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Plan, PlannedVariant } from '../config/resolve-plan.ts';
import { withServer } from '../servers/with-server.ts';
import type { RequestConfig } from '../config/types.ts';
import type { Endpoint } from '../load/endpoint.ts';
import { send } from '../servers/contract.ts';
import { CallsWatch } from './calls-watch.ts';
import type { CallsSummary } from './result.ts';
import { summariseCalls } from './summarise-calls.ts';
import type { RequestCalls } from './preload/protocol.ts';

/**
 * Starts a variant with the recorder in it, and returns what its requests call: a start of its own, so that the recorder is in no
 * figure of CPU.
 * @throws {LabError} ERR_REDLINE_SERVER, ERR_REDLINE_PORT_TAKEN, ERR_REDLINE_LOAD
 */
export async function watchVariant(
  plan: Plan,
  variant: PlannedVariant,
  { signal, phase }: { signal: AbortSignal; phase: (text: string) => void },
): Promise<CallsSummary | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'redline-calls-'));
  try {
    await using watch = await CallsWatch.listen(join(folder, 'calls'));
    const given = variant.env['NODE_OPTIONS'] ?? process.env['NODE_OPTIONS'];
    const watched = { ...variant, env: { ...variant.env, ...watch.environment(given) } };
    return await withServer({ plan, variant: watched }, { signal, phase }, async ({ server }) => {
      phase('asking what it waits for');
      const requests = await watchApp(watch, server, plan.requests, signal);
      return summariseCalls(requests, { folder: variant.cwd });
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Requests before it, and their max time: the first ones open connections, fill caches and run code that is not compiled. */
const warmRequests = 15;
const maxWarmMs = 1_500;

/** Sends the requests of an app in turn, one after the other, and returns what they call. Empty if it stops responding. */
export async function watchApp(
  watch: CallsWatch,
  endpoint: Endpoint,
  requests: readonly Required<RequestConfig>[],
  signal: AbortSignal,
): Promise<RequestCalls[]> {
  const ask = (index: number): Promise<unknown> =>
    send(endpoint, requests[index % requests.length]!, { signal });
  const startedAt = performance.now();
  try {
    for (let sent = 0; sent < warmRequests; sent++) {
      if (performance.now() - startedAt > maxWarmMs) break;
      await ask(sent);
    }
    return await watch.record(ask, { signal, atLeast: Math.max(5, requests.length) });
  } catch (error) {
    signal.throwIfAborted();
    // A request that fails is reported by the measurement.
    if (error instanceof Error) return [];
    throw error;
  }
}
