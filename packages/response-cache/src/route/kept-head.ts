import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { Headers, ResponsePort } from './response-port.ts';

/* Headers of one response or one connection, which are not kept. */
const ofOneResponse =
  /^(?:set-cookie|content-length|transfer-encoding|connection|keep-alive|proxy-(?:authenticate|authentication-info|authorization|connection)|te|trailer|upgrade|date|age|traceparent|tracestate|server-timing|x-(?:request|correlation|trace|amzn-trace)-id|request-id|x-response-time|x-runtime|(?:x-)?ratelimit.*)$/;

interface Head {
  readonly status?: number;
  readonly headers?: Record<string, string | number | readonly string[]>;
  readonly removed?: readonly string[];
}

interface StatusAndHeaders {
  readonly status: number;
  readonly headers: Headers;
}

/** Returns the head of a response, as JSON: its status and the headers that were set or removed while it was made. */
export function takeHead(
  before: StatusAndHeaders,
  { status, headers: after }: StatusAndHeaders,
  spell: (name: string) => string = (name) => name,
): string | undefined {
  // RFC 9111, section 3.1: headers that Connection names belong to that connection, too.
  const ofConnection = after['connection'] === undefined ? none : namesOf(after['connection']);
  const changed = Object.entries(after).filter(
    ([name, value]) =>
      value !== undefined &&
      !ofOneResponse.test(name) &&
      !ofConnection.has(name.toLowerCase()) &&
      String(value) !== String(before.headers[name] ?? ''),
  );
  const removed = Object.keys(before.headers).filter(
    (name) => after[name] === undefined && !ofOneResponse.test(name),
  );
  const isStatusKept = status === before.status;
  if (changed.length === 0 && removed.length === 0 && isStatusKept) return undefined;
  const spelled = changed.map(([name, value]) => [spell(name), value] as const);
  const head: Head = {
    ...(isStatusKept ? {} : { status }),
    ...(changed.length === 0 ? {} : { headers: Object.fromEntries(spelled) as Head['headers'] }),
    ...(removed.length === 0 ? {} : { removed }),
  };
  return JSON.stringify(head);
}

/** Returns true for a stored head that a response accepts. A damaged one would fail every response until it expires. */
export function isHead(text: string): boolean {
  try {
    const head = JSON.parse(text) as Head;
    const { status = 200, headers = {}, removed = [] } = head;
    if (!(Number.isInteger(status) && status >= 200 && status < 600)) return false;
    for (const name of [...Object.keys(headers), ...removed]) validateHeaderName(name);
    for (const [name, value] of Object.entries(headers))
      for (const each of [value].flat()) validateHeaderValue(name, each as string);
    return typeof headers === 'object' && Array.isArray(removed);
  } catch {
    return false;
  }
}

/** Applies the head of an answer that was made for another response. */
export function giveHead<Response>(
  head: string,
  responses: ResponsePort<Response>,
  response: Response,
): void {
  const { status, headers = {}, removed = [] } = JSON.parse(head) as Head;
  if (status !== undefined) responses.setStatus(response, status);
  for (const name of removed) responses.removeHeader(response, name);
  for (const [name, value] of Object.entries(headers)) {
    const isVary = name.toLowerCase() === 'vary';
    const given = isVary ? union(responses.headersOf(response).vary, value) : value;
    responses.setHeader(response, name, given);
  }
}

const none: ReadonlySet<string> = new Set();

function namesOf(connection: unknown): ReadonlySet<string> {
  return new Set(namesIn(String(connection).toLowerCase()));
}

export function addVary<Response>(
  responses: ResponsePort<Response>,
  response: Response,
  name: string,
): void {
  const present = responses.getHeader(response, 'vary');
  if (present === '*') return;
  responses.setHeader(response, 'Vary', present === undefined ? name : union(present, name));
}

/** Returns the names in a `Vary` header, in lower case. */
export function varyNames(vary: unknown): string[] {
  return namesIn(String(vary ?? '').toLowerCase());
}

function namesIn(list: string): string[] {
  return list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function union(present: unknown, added: unknown): string {
  const own = String(present ?? '');
  if (own === '') return String(added);
  const names = varyNames(own);
  const missing = namesIn(String(added)).filter((name) => !names.includes(name.toLowerCase()));
  return [own, ...missing].join(', ');
}
