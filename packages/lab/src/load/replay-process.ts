import { Agent, request as httpRequest } from 'node:http';
import { Agent as TlsAgent, request as httpsRequest } from 'node:https';
import type { Replay, ReplayAnswer, ReplayOutcome } from './replay.ts';

/** Time allowed for a response after the last send. */
const graceMs = 5_000;

process.once('message', ({ origin, requests, atMs, connections }: Replay) => {
  const { protocol, hostname, port } = new URL(origin);
  // A URL writes an IPv6 address in brackets, and a socket does not.
  const host = hostname.replace(/^\[|\]$/g, '');
  const isTls = protocol === 'https:';
  const open = isTls ? httpsRequest : httpRequest;
  const agent = new (isTls ? TlsAgent : Agent)({ keepAlive: true, maxSockets: connections });
  const answers: ReplayAnswer[] = [];
  const startedAt = performance.now();
  let failed = 0;
  let sent = 0;

  const send = (index: number, intendedAt: number): void => {
    const { method, path, headers } = requests[index]!;
    const fail = (): void => {
      failed++;
      finishWhenDone();
    };
    const outgoing = open({ host, port, agent, method, path, headers }, (incoming) => {
      incoming.resume();
      incoming.on('end', () => {
        answers.push([index, incoming.statusCode!, performance.now() - intendedAt]);
        finishWhenDone();
      });
      incoming.on('error', fail);
    });
    outgoing.on('error', fail);
    outgoing.end();
  };

  // Each tick sends all that is due; being late is part of the latency.
  const ticker = setInterval(() => {
    const now = performance.now();
    while (sent < atMs.length && startedAt + atMs[sent]! <= now) {
      send(sent, startedAt + atMs[sent]!);
      sent++;
    }
    if (sent < atMs.length) return;
    clearInterval(ticker);
    // Counted from here, not from the intended end: on a crowded machine this process may be late itself.
    setTimeout(finish, graceMs);
  }, 1);

  const finish = (): void => {
    const unanswered = atMs.length - answers.length;
    const outcome: ReplayOutcome = {
      answers,
      failed: unanswered,
      seconds: (performance.now() - startedAt) / 1_000,
    };
    process.send!(outcome, () => process.exit());
  };
  const finishWhenDone = (): void => {
    if (answers.length + failed >= atMs.length) finish();
  };
});
