import { Agent, request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestConfig } from '../config/types.ts';
import { LabError } from '../errors.ts';
import type { Endpoint } from '../load/endpoint.ts';
import { FreshIds, needsFreshId, withFreshId, withoutFreshId } from '../load/fresh-ids.ts';
import { maskSecrets } from '../secrets.ts';
import type { Server } from './server.ts';

const defaultTimeoutMs = 10_000;

/** Statuses of a server that listens before it is ready. */
const warmingUp = new Set([425, 502, 503]);
const warmWithinMs = 30_000;
const askAgainMs = 100;
/** Some apps listen first, and add their routes once a database is connected or plugins are loaded. */
export const routesWithinMs = 2_000;

export interface Answer {
  status: number;
  body: Buffer;
  /** Location of a redirect. */
  location?: string;
  retryAfter?: string;
  /** Lines of Set-Cookie. */
  cookies?: string[];
  /** Session id that a Model Context Protocol server has assigned. */
  mcpSession?: string;
}

/** Formats a status for display: a rate limiter is not a fault of the app. */
export function statusText({ status, retryAfter }: Omit<Answer, 'body'>): string {
  const when = retryAfter === undefined ? '' : `, Retry-After ${retryAfter}`;
  return status === 429
    ? `429${when}: a rate limiter; switch it off for this run`
    : `${status}${when}`;
}

/**
 * Sends each request to each server and compares status and body, byte for byte, with the first server's: a variant with a
 * different response is not a faster variant.
 * @throws {LabError} ERR_REDLINE_CONTRACT
 */
export async function checkContract(
  servers: readonly Server[],
  requests: readonly Required<RequestConfig>[],
  signal?: AbortSignal,
): Promise<void> {
  const [reference, ...others] = servers;
  for (const request of requests) {
    const [expected] = await answersOf(reference!, [request], { signal });
    for (const server of others) {
      const [answer] = await answersOf(server, [request], { signal });
      requireSame(
        request,
        { name: reference!.name, answer: expected! },
        { name: server.name, answer: answer! },
      );
    }
  }
}

/**
 * Returns a server's response to each request, once it is warm.
 * @param where.endpoint Endpoint of the server, if not its own port.
 * @throws {LabError} ERR_REDLINE_CONTRACT for a status outside 2xx and 3xx
 */
export async function answersOf(
  server: Server,
  requests: readonly Required<RequestConfig>[],
  { endpoint = server, signal }: { endpoint?: Endpoint; signal?: AbortSignal | undefined } = {},
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const request of requests) {
    const answer = await ask(server, { endpoint, signal }, request);
    requireSuccess(server, request, answer);
    answers.push(answer);
  }
  return answers;
}

/** @throws {LabError} ERR_REDLINE_CONTRACT if the second response differs from the first */
export function requireSame(
  request: Required<RequestConfig>,
  expected: { name: string; answer: Answer },
  { name, answer }: { name: string; answer: Answer },
): void {
  const difference = describeDifference(request, expected.answer, answer);
  if (difference === undefined) return;
  throw contractError(
    `"${name}" answers ${label(request)} differently from "${expected.name}": ${difference}`,
  );
}

export function label(request: { method: string; path: string }): string {
  return `${request.method} ${maskSecrets(request.path)}`;
}

/** Max number of distinct labels listed in full; of more, only the first few are named. */
const maxNamed = 20;
const namedOfMany = 3;

/** Labels for display and for the result file: thousands of paths would hide everything else there. */
export function labelsOf(requests: readonly { method: string; path: string }[]): string[] {
  const labels = requests.map(label);
  const distinct = [...new Set(labels)];
  if (distinct.length <= maxNamed) return labels;
  return [...distinct.slice(0, namedOfMany), `${distinct.length - namedOfMany} others`];
}

async function ask(
  server: Server,
  { endpoint, signal }: { endpoint: Endpoint; signal: AbortSignal | undefined },
  request: Required<RequestConfig>,
): Promise<Answer> {
  try {
    // Sent twice, and the second response counts: the first may fill a cache whose responses are to be measured.
    await sendOnceReady(endpoint, request, { signal });
    return await send(endpoint, request, { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw await server.failure(`did not answer ${label(request)} (${(error as Error).message})`);
  }
}

/** Retries while the server says that it is not ready yet, and briefly while it does not know the route yet. */
export async function sendOnceReady(
  server: Endpoint,
  request: Required<RequestConfig>,
  { withinMs = warmWithinMs, signal }: { withinMs?: number; signal?: AbortSignal | undefined } = {},
): Promise<Answer> {
  const [askedAt, deadline] = [Date.now(), Date.now() + withinMs];
  for (;;) {
    const answer = await send(server, request, { signal });
    const until = isWarmingUp(answer)
      ? deadline
      : answer.status === 404
        ? Math.min(deadline, askedAt + routesWithinMs)
        : 0;
    if (Date.now() > until) return answer;
    await sleep(askAgainMs, undefined, { signal });
  }
}

export function isWarmingUp({ status }: { status: number }): boolean {
  return warmingUp.has(status);
}

const ids = new FreshIds();

interface Patience {
  timeoutMs?: number;
  signal?: AbortSignal | undefined;
}

/** Sends one request over its own connection. If the response repeats the fresh id of the request, the id is removed. */
export async function send(
  server: Endpoint,
  request: Required<RequestConfig>,
  patience: Patience = {},
): Promise<Answer> {
  if (!needsFreshId(request)) return sendAsItIs(server, request, patience);
  const fresh = ids.next();
  const answer = await sendAsItIs(server, withFreshId(request, fresh), patience);
  const { body } = answer;
  return { ...answer, body: Buffer.from(withoutFreshId(body.toString('latin1'), fresh), 'latin1') };
}

function sendAsItIs(
  { host, port, session }: Endpoint,
  request: Required<RequestConfig>,
  { timeoutMs = defaultTimeoutMs, signal }: Patience,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      {
        host,
        port,
        method: request.method,
        path: request.path,
        headers: { ...request.headers, ...session },
        agent: new Agent({ keepAlive: false }),
        timeout: timeoutMs,
        signal,
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('end', () =>
          resolve({
            status: incoming.statusCode!,
            body: Buffer.concat(chunks),
            ...(incoming.headers.location && { location: incoming.headers.location }),
            ...(incoming.headers['set-cookie'] && { cookies: incoming.headers['set-cookie'] }),
            ...(incoming.headers['retry-after'] && { retryAfter: incoming.headers['retry-after'] }),
            ...(incoming.headers['mcp-session-id'] !== undefined && {
              mcpSession: String(incoming.headers['mcp-session-id']),
            }),
          }),
        );
        incoming.on('error', reject);
      },
    );
    outgoing.on('timeout', () =>
      outgoing.destroy(new Error(`no response for ${timeoutMs / 1_000} s`)),
    );
    outgoing.on('error', reject);
    outgoing.end(request.body === '' ? undefined : request.body);
  });
}

function requireSuccess(server: Server, request: Required<RequestConfig>, answer: Answer): void {
  if (answer.status >= 200 && answer.status < 400) return;
  const { status, body } = answer;
  const start = maskSecrets(body.subarray(0, 200).toString()).replaceAll(/\s+/g, ' ').trim();
  const refuses = status === 401 || status === 403;
  throw contractError(
    [
      `"${server.name}" answers ${label(request)} with status ${status}${start === '' ? '.' : `: ${start}`}`,
      ...(refuses
        ? ["Send what it asks for: -H 'authorization: …', or headers in the config."]
        : []),
    ].join(' '),
  );
}

function describeDifference(
  request: Required<RequestConfig>,
  expected: Answer,
  answer: Answer,
): string | undefined {
  if (answer.status !== expected.status) return `status ${answer.status}, not ${expected.status}.`;
  if (request.compare === 'status' || answer.body.equals(expected.body)) return undefined;
  const at = firstDifference(expected.body, answer.body);
  const sizes = `${answer.body.length} bytes, not ${expected.body.length}`;
  return `${sizes}; from byte ${at} on ${excerpt(answer.body, at)}, not ${excerpt(expected.body, at)}. If that is intended, say so in the config: requests: [{ path: '${maskSecrets(request.path)}', compare: 'status' }].`;
}

function firstDifference(a: Buffer, b: Buffer): number {
  const end = Math.min(a.length, b.length);
  for (let i = 0; i < end; i++) if (a[i] !== b[i]) return i;
  return end;
}

function excerpt(body: Buffer, from: number): string {
  return JSON.stringify(body.subarray(from, from + 40).toString());
}

function contractError(message: string): LabError {
  return new LabError('ERR_REDLINE_CONTRACT', message);
}

/** Max number of requests checked: each costs several round trips to every server before anything is measured. */
const maxChecked = 200;

/** Selects the requests of a list to check: each once, and only the first ones of very many. */
export function distinctRequests(
  requests: readonly Required<RequestConfig>[],
): Required<RequestConfig>[] {
  const distinct = new Map(
    requests.map((each) => [`${each.method} ${each.path} ${each.body}`, each] as const),
  );
  return [...distinct.values()].slice(0, maxChecked);
}
