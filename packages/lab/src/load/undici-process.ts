import { Client, type Dispatcher } from 'undici';
import type { RequestConfig } from '../config/types.ts';
import { originOf } from './endpoint.ts';
import { FreshIds, needsFreshId, withFreshId } from './fresh-ids.ts';
import type { ClosedLoop, LoadOutcome } from './generator.ts';

type Counts = Pick<LoadOutcome, 'requests' | 'badStatus' | 'socketErrors'>;

/** A response that takes longer counts as an error of its connection. */
const responseTimeoutMs = 10_000;

/** Runs in a process of its own, so that its CPU can be separated from the runner's. */
process.once('message', (load: Omit<ClosedLoop, 'signal'>) => {
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  const counts: Counts = { requests: 0, badStatus: 0, socketErrors: 0 };
  const ids = new FreshIds();
  const prepared = load.requests.map((request) => {
    const sent = asSent(request);
    return needsFreshId(request) ? () => asSent(withFreshId(request, ids.next())) : () => sent;
  });

  for (let i = 0; i < load.connections; i++) {
    const client = new Client(originOf(load), {
      pipelining: load.pipeline,
      headersTimeout: responseTimeoutMs,
      bodyTimeout: responseTimeoutMs,
    });
    for (let each = 0; each < load.pipeline; each++) {
      keepAsking(client, prepared, each % prepared.length, counts);
    }
  }

  setTimeout(() => {
    const seconds = (performance.now() - startedAt) / 1_000;
    const used = process.cpuUsage(cpuBefore);
    const busy = (used.user + used.system) / 1e6 / seconds;
    const outcome: LoadOutcome = { ...counts, seconds, busy };
    process.send!(outcome, () => process.exit());
  }, load.durationMs);
});

/** Sends one request after the other, each as soon as the last response is complete. */
function keepAsking(
  client: Client,
  prepared: readonly (() => Dispatcher.DispatchOptions)[],
  first: number,
  counts: Counts,
): void {
  let next = first;
  const ask = (): void => {
    const request = prepared[next]!();
    next = (next + 1) % prepared.length;
    client.dispatch(request, handler);
  };
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart() {},
    onResponseStart(_controller, status) {
      if (status >= 400) counts.badStatus++;
    },
    onResponseData() {},
    onResponseEnd() {
      counts.requests++;
      ask();
    },
    onResponseError() {
      counts.socketErrors++;
      // Delayed: otherwise a server that refuses connections would keep this process busy.
      setTimeout(ask, 1);
    },
  };
  ask();
}

function asSent({
  method,
  path,
  headers,
  body,
}: Required<RequestConfig>): Dispatcher.DispatchOptions {
  return {
    method: method as Dispatcher.HttpMethod,
    path,
    headers,
    // Pipelined, whatever the method: responses are counted, not used.
    idempotent: true,
    ...(body === '' ? {} : { body }),
  };
}
