import type { OutgoingHttpHeaders, Server } from 'node:http';
import { http } from './node-http.ts';
import { EngineServer } from './server.ts';

/** A response that is the same for everyone. */
export interface KeptAnswer {
  /** @default 200 */
  readonly status?: number;
  /** `Date`, `Connection`, `Keep-Alive` and `Content-Length` are added. */
  readonly headers?: OutgoingHttpHeaders;
  readonly body: string | Uint8Array;
  /** How long it is valid, in ms. */
  readonly ttlMs: number;
}

/** Headers that the engine writes itself: a second line could contradict it. */
const OWN = new Set([
  'date',
  'connection',
  'keep-alive',
  'content-length',
  'transfer-encoding',
  'trailer',
]);

/** Times cross as 32 bits: this is 49 days. */
const LONGEST_MS = 0xffff_ffff;

/**
 * Lets the engine itself answer GET and HEAD requests for exactly this URL, including the query: no JavaScript runs, no
 * hook and no log line. With `threaded` it responds even while JavaScript is busy, as a health check needs.
 *
 * @returns False if Node serves, or the server does not listen: then requests reach the application as usual.
 * @throws As `setHeader` does, for a header that cannot be sent.
 * @throws TypeError for a header that the engine writes itself, RangeError for a status or time that cannot be.
 * @example server.listen(3000, () => keepAnswer(server, '/health', { body: 'ok', ttlMs: 5000 }));
 */
export function keepAnswer(server: Server, url: string, answer: KeptAnswer): boolean {
  const { status = 200, headers = {}, ttlMs } = answer;
  if (
    !Number.isInteger(status) ||
    status < 200 ||
    status > 999 ||
    status === 204 ||
    status === 304
  ) {
    throw new RangeError(`A kept answer cannot have the status ${status}`);
  }
  if (!Number.isFinite(ttlMs) || ttlMs <= 0) {
    throw new RangeError(`ttlMs is ${ttlMs}: it must be above 0`);
  }
  const body = typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body;
  let head = `HTTP/1.1 ${status} ${http.STATUS_CODES[status] ?? 'unknown'}\r\n`;
  for (const [name, value] of Object.entries(headers)) head += linesOf(name, value!);
  head += `Content-Length: ${body.byteLength}\r\n`;
  return (
    server instanceof EngineServer &&
    server.keepAnswer(url, head, body, Math.min(Math.ceil(ttlMs), LONGEST_MS))
  );
}

/** Gives the URL back to the application. */
export function forgetAnswer(server: Server, url: string): void {
  if (server instanceof EngineServer) server.forgetAnswer(url);
}

function linesOf(name: string, value: number | string | readonly string[]): string {
  http.validateHeaderName(name);
  if (OWN.has(name.toLowerCase())) {
    throw new TypeError(`The engine writes ${name} of a kept answer itself`);
  }
  let lines = '';
  for (const one of Array.isArray(value) ? value : [value]) {
    http.validateHeaderValue(name, one);
    lines += `${name}: ${one}\r\n`;
  }
  return lines;
}
