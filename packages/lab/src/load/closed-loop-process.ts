import type { ClosedLoop, LoadOutcome } from './closed-loop.ts';
import { LoadConnection } from './load-connection.ts';
import { requestsInTurn } from './request-bytes.ts';

const responseTimeoutMs = 10_000;

/** Runs in a process of its own, so that its CPU can be separated from the runner's. */
process.once('message', (load: Omit<ClosedLoop, 'signal'>) => {
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  const counts = { requests: 0, badStatus: 0, socketErrors: 0 };
  const { host, port, pipeline } = load;
  const next = requestsInTurn(load, load.requests);
  for (let i = 0; i < load.connections; i++) {
    LoadConnection.open({ host, port, pipeline, next, counts, responseTimeoutMs });
  }

  setTimeout(() => {
    const seconds = (performance.now() - startedAt) / 1_000;
    const used = process.cpuUsage(cpuBefore);
    const busy = (used.user + used.system) / 1e6 / seconds;
    const outcome: LoadOutcome = { ...counts, seconds, busy };
    process.send!(outcome, () => process.exit());
  }, load.durationMs);
});
