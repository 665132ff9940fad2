import { Agent, request as httpRequest } from 'node:http';
import { quantileOfSorted } from '../stats/order-statistics.ts';
import { FreshIds, needsFreshId, withFreshId } from './fresh-ids.ts';
import type { OpenLoop, OpenLoopOutcome } from './open-loop.ts';

/** Requests sent before this are not counted: the connections are being opened, and this process compiled. */
const uncountedMs = 250;
/** Max delay of a timer: an exact sender sleeps until this long before, and then polls the clock. */
const timerLateMs = 1.5;
/** Time allowed for a response after the last send. Late responses count with their full time. */
const graceMs = 5_000;

process.once('message', (load: OpenLoop) => {
  const agent = new Agent({ keepAlive: true, maxSockets: load.connections });
  const latencies: number[] = [];
  const perMs = load.requestsPerSecond / 1_000;
  const uncounted = Math.floor(perMs * uncountedMs);
  const total = uncounted + Math.max(1, Math.floor(perMs * load.durationMs));
  const gapMs = 1 / perMs;
  const dueAt = (index: number): number => startedAt + (index - (index % load.burst)) * gapMs;
  const ids = new FreshIds();
  const isFresh = load.requests.map(needsFreshId);
  let timed = 0;
  let untimed = 0;
  let failed = 0;
  let sent = 0;
  const startedAt = performance.now();

  const send = (intendedAt: number): void => {
    const index = sent % load.requests.length;
    const request = load.requests[index]!;
    const { method, path, headers, body } = isFresh[index]
      ? withFreshId(request, ids.next())
      : request;
    const counts = request.timed && sent >= uncounted;
    if (counts) timed++;
    const outgoing = httpRequest(
      { host: load.host, port: load.port, agent, method, path, headers },
      (incoming) => {
        incoming.resume();
        incoming.on('end', () => {
          if (!counts) untimed++;
          else if (incoming.statusCode! >= 400) failed++;
          else latencies.push(performance.now() - intendedAt);
          finishWhenDone();
        });
        incoming.on('error', fail);
      },
    );
    const fail = (): void => {
      if (counts) failed++;
      else untimed++;
      finishWhenDone();
    };
    outgoing.on('error', fail);
    outgoing.end(body === '' ? undefined : body);
  };

  // Each tick sends all that is due, and lateness is part of the latency.
  const tick = (): void => {
    const now = performance.now();
    while (sent < total && dueAt(sent) <= now) {
      send(dueAt(sent));
      sent++;
    }
    // Counted from here, not from the intended end: on a crowded machine this process may be late itself.
    if (sent === total) return void setTimeout(finish, graceMs);
    const sleepMs = dueAt(sent) - now - timerLateMs;
    if (load.isExact && sleepMs < 1) setImmediate(tick);
    else setTimeout(tick, load.isExact ? sleepMs : 1);
  };

  const finish = (): void => {
    latencies.sort((a, b) => a - b);
    const outcome: OpenLoopOutcome = {
      p50: quantileOfSorted(latencies, 0.5),
      p99: quantileOfSorted(latencies, 0.99),
      answered: latencies.length,
      failed: timed - latencies.length,
    };
    process.send!(outcome, () => process.exit());
  };
  const finishWhenDone = (): void => {
    if (latencies.length + failed + untimed >= total) finish();
  };
  tick();
});
