import type { RequestConfig } from '../config/types.ts';
import { maskSecrets } from '../secrets.ts';
import { type Answer, label, send, distinctRequests } from './contract.ts';
import type { Server } from './server.ts';

interface BadAnswer {
  request: Required<RequestConfig>;
  answer: Answer;
}

/**
 * Finds a response outside 2xx and 3xx by sending a few more concurrent requests: the load only counts failures. Undefined if none
 * fails any more.
 */
export async function findBadAnswer(
  server: Server,
  { requests, connections }: { requests: readonly Required<RequestConfig>[]; connections: number },
): Promise<BadAnswer | undefined> {
  const distinct = distinctRequests(requests);
  const some = Array.from(
    { length: Math.max(distinct.length, connections) },
    (_, at) => distinct[at % distinct.length]!,
  );
  const answers = await Promise.all(some.map((each) => send(server, each).catch(() => undefined)));
  const at = answers.findIndex((answer) => answer !== undefined && answer.status >= 400);
  return at < 0 ? undefined : { request: some[at]!, answer: answers[at]! };
}

const maxBodyBytes = 120;

/** Formats `such as GET /feed with 503 "overloaded"`. */
export function badAnswerText(bad: BadAnswer | undefined): string {
  if (bad === undefined) return 'although a few more requests got 2xx and 3xx';
  const start = maskSecrets(bad.answer.body.toString('utf8', 0, maxBodyBytes))
    .replaceAll(/\s+/g, ' ')
    .trim();
  const limited =
    bad.answer.status === 429 ? ', from a rate limiter: switch it off for this run' : '';
  const body = start === '' ? '' : ` "${start}"`;
  return `such as ${label(bad.request)} with ${bad.answer.status}${body}${limited}`;
}
