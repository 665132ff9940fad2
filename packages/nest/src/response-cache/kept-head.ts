import type { Headers, ResponsePort } from './response-port.ts';

/* What belongs to one response or one connection, and not to the answer. */
const ofOneResponse =
  /^(?:set-cookie|content-length|transfer-encoding|connection|keep-alive|date|age|traceparent|tracestate|server-timing|x-(?:request|correlation|trace|amzn-trace)-id|request-id|x-response-time|x-runtime|retry-after|(?:x-)?ratelimit.*)$/;

interface Head {
  readonly status?: number;
  readonly headers?: Record<string, string | number | readonly string[]>;
}

/** What an answer has beside its body: the status and the headers that were set while it was made. */
export function takeHead(
  statusBefore: number,
  status: number,
  before: Headers,
  after: Headers,
): string | undefined {
  const changed = Object.entries(after).filter(
    ([name, value]) =>
      value !== undefined &&
      !ofOneResponse.test(name) &&
      String(value) !== String(before[name] ?? ''),
  );
  if (changed.length === 0 && status === statusBefore) return undefined;
  const head: Head = {
    ...(status === statusBefore ? {} : { status }),
    ...(changed.length === 0 ? {} : { headers: Object.fromEntries(changed) as Head['headers'] }),
  };
  return JSON.stringify(head);
}

/** Gives a response the head of the answer that was made for another. */
export function giveHead<Response>(
  head: string,
  responses: ResponsePort<Response>,
  response: Response,
): void {
  const { status, headers } = JSON.parse(head) as Head;
  if (status !== undefined) responses.setStatus(response, status);
  if (headers === undefined) return;
  for (const [name, value] of Object.entries(headers)) {
    const isVary = name === 'vary';
    const given = isVary ? union(responses.headersOf(response).vary, value) : value;
    responses.setHeader(response, name, given);
  }
}

/** The names in a `Vary` header, in lower case. */
export function varyNames(vary: unknown): string[] {
  return String(vary ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function union(present: unknown, added: unknown): string {
  const names = varyNames(present);
  const missing = varyNames(added).filter((name) => !names.includes(name));
  const own = String(present ?? '');
  if (own === '') return String(added);
  return missing.length === 0 ? own : `${own}, ${missing.join(', ')}`;
}
