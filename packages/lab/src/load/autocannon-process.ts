import autocannon, { type Request } from 'autocannon';
import type { RequestConfig } from '../config/types.ts';
import { originOf } from './endpoint.ts';
import { FreshIds, needsFreshId, withFreshId } from './fresh-ids.ts';
import type { ClosedLoop, LoadOutcome } from './generator.ts';

/** Runs in a process of its own, so that its CPU can be separated from the runner's. */
process.once('message', (load: Omit<ClosedLoop, 'signal'>) => {
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  let requests = 0;
  const ids = new FreshIds();
  let badStatus = 0;
  // The form with a callback is the one whose return value reports every response.
  const options = {
    url: originOf(load),
    connections: load.connections,
    pipelining: load.pipeline,
    duration: 600,
    requests: load.requests.map((request) =>
      needsFreshId(request)
        ? { setupRequest: () => asSent(withFreshId(request, ids.next())) }
        : asSent(request),
    ),
  };
  const run = autocannon(options, () => {});
  run.on('response', (_client, status) => {
    requests++;
    if (status >= 400) badStatus++;
  });
  let socketErrors = 0;
  run.on('reqError', () => socketErrors++);
  setTimeout(() => {
    // autocannon's own clock counts whole seconds, and a slice is shorter: what is counted ends here.
    const seconds = (performance.now() - startedAt) / 1_000;
    const used = process.cpuUsage(cpuBefore);
    const busy = (used.user + used.system) / 1e6 / seconds;
    const outcome: LoadOutcome = { requests, seconds, badStatus, socketErrors, busy };
    process.send!(outcome, () => process.exit());
  }, load.durationMs);
});

function asSent({ method, path, headers, body }: Required<RequestConfig>): Request {
  return { method: method as 'GET', path, headers, ...(body === '' ? {} : { body }) };
}
