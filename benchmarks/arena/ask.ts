import { once } from 'node:events';
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

/** Longer than any check takes: a server that never responds must not block the run forever. */
const MAX_MS = 60_000;

export interface Question {
  readonly method?: string;
  readonly path: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
}

export interface Response {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Time from before the connection was opened to the end of the body. */
  readonly ms: number;
}

/** Sends a request on its own connection, with the given headers, Host and the framing of the body only. */
export async function ask(
  port: number,
  { method = 'GET', path, headers = {}, body }: Question,
): Promise<Response> {
  const startedAt = performance.now();
  const signal = AbortSignal.timeout(MAX_MS);
  const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: false, signal });
  sent.end(body);
  const [response] = await once(sent, 'response');
  return {
    status: response.statusCode,
    headers: response.headers,
    body: await buffer(response),
    ms: performance.now() - startedAt,
  };
}

/** Writes the parts to one connection, each after a pause; returns everything received until the server closes. */
export async function sendParts(
  port: number,
  parts: readonly string[],
  pauseMs: number,
): Promise<string> {
  const signal = AbortSignal.timeout(MAX_MS);
  const socket = connect({ host: '127.0.0.1', port, noDelay: true, signal });
  const received = buffer(socket);
  await once(socket, 'connect');
  for (const [index, part] of parts.entries()) {
    if (index > 0) await delay(pauseMs);
    socket.write(part, 'latin1');
  }
  return (await received).toString('latin1');
}

/** Returns the body of a raw response, with chunks joined; undefined unless its status is 200. */
export function bodyOf(response: string): string | undefined {
  const end = response.indexOf('\r\n\r\n');
  if (end < 0 || !response.startsWith('HTTP/1.1 200 ')) return undefined;
  const body = response.slice(end + 4);
  if (!/^transfer-encoding: chunked\r?$/im.test(response.slice(0, end))) return body;
  let [text, rest] = ['', body];
  for (;;) {
    const [head, size] = /^([\da-f]+)\r\n/i.exec(rest) ?? [];
    const length = Number.parseInt(size ?? '0', 16);
    if (head === undefined || length === 0) return text;
    text += rest.slice(head.length, head.length + length);
    rest = rest.slice(head.length + length + 2);
  }
}
