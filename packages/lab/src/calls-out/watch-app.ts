import type { RequestConfig } from '../config/types.ts';
import type { Endpoint } from '../load/endpoint.ts';
import { send } from '../servers/contract.ts';
import type { CallsWatch } from './calls-watch.ts';
import type { RequestCalls } from './preload/protocol.ts';

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
