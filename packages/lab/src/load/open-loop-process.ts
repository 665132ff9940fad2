import { Agent, request as httpRequest } from 'node:http';
import { quantileOfSorted } from '../stats/quantile.ts';
import type { OpenLoop, OpenLoopOutcome } from './open-loop.ts';

/** After the last intended send, how long an answer may still take. Late answers count with their full time. */
const graceMs = 1_000;

process.once('message', (load: OpenLoop) => {
  const agent = new Agent({ keepAlive: true, maxSockets: load.connections });
  const latencies: number[] = [];
  const total = Math.max(1, Math.floor((load.requestsPerSecond * load.durationMs) / 1_000));
  const gapMs = 1_000 / load.requestsPerSecond;
  let failed = 0;
  let sent = 0;
  const startedAt = performance.now();

  const send = (intendedAt: number): void => {
    const { method, path, headers, body } = load.requests[sent % load.requests.length]!;
    const outgoing = httpRequest(
      { host: '127.0.0.1', port: load.port, agent, method, path, headers },
      (incoming) => {
        incoming.resume();
        incoming.on('end', () => {
          if (incoming.statusCode! >= 400) failed++;
          else latencies.push(performance.now() - intendedAt);
          finishWhenDone();
        });
        incoming.on('error', fail);
      },
    );
    const fail = (): void => {
      failed++;
      finishWhenDone();
    };
    outgoing.on('error', fail);
    outgoing.end(body === '' ? undefined : body);
  };

  // A timer is at best 1 ms exact: each tick sends all that is due, and lateness is part of the latency.
  const ticker = setInterval(() => {
    const now = performance.now();
    while (sent < total && startedAt + sent * gapMs <= now) {
      send(startedAt + sent * gapMs);
      sent++;
    }
    if (sent === total) clearInterval(ticker);
  }, 1);

  const finish = (): void => {
    latencies.sort((a, b) => a - b);
    const outcome: OpenLoopOutcome = {
      p50: quantileOfSorted(latencies, 0.5),
      p99: quantileOfSorted(latencies, 0.99),
      answered: latencies.length,
      failed: failed + Math.max(0, total - latencies.length - failed),
    };
    process.send!(outcome, () => process.exit());
  };
  const finishWhenDone = (): void => {
    if (latencies.length + failed >= total) finish();
  };
  setTimeout(finish, load.durationMs + graceMs);
});
