import type { RequestConfig } from '../config/types.ts';
import { type Endpoint, originOf } from './endpoint.ts';
import { fillIn, FreshIds, needsFreshId, withFreshId } from './fresh-ids.ts';

/** A request as it goes over the wire. */
export interface PreparedRequest {
  readonly bytes: Buffer;
  readonly isHead: boolean;
}

/** Methods that get a Content-Length without a body, too. */
const withBody = /^(?:PATCH|POST|PUT)$/;

/** Returns a function that returns the requests one after another, and from the first again. */
export function requestsInTurn(
  endpoint: Endpoint,
  requests: readonly Required<RequestConfig>[],
): () => PreparedRequest {
  const { host } = new URL(originOf(endpoint));
  const ids = new FreshIds();
  const prepared = requests.map((request) => prepare(request, host, ids));
  let next = 0;
  return () => {
    const request = prepared[next]!();
    next = (next + 1) % prepared.length;
    return request;
  };
}

/** Prepares a request once; only its fresh ids, whose length is fixed, are filled in each time. */
function prepare(
  request: Required<RequestConfig>,
  host: string,
  ids: FreshIds,
): () => PreparedRequest {
  const isHead = request.method.toUpperCase() === 'HEAD';
  if (!needsFreshId(request)) {
    const prepared = { bytes: asBytes(messageOf(request, host, request.body)), isHead };
    return () => prepared;
  }
  const message = messageOf(request, host, withFreshId(request, ids.next()).body);
  return () => ({ bytes: asBytes(fillIn(message, ids.next())), isHead });
}

/** Returns the message with a character for each byte. */
function messageOf(request: Required<RequestConfig>, host: string, sentBody: string): string {
  const method = request.method.toUpperCase();
  const given = Object.entries(request.headers);
  const own = [['Host', host]];
  if (sentBody !== '' || withBody.test(method)) {
    own.push(['Content-Length', String(Buffer.byteLength(sentBody))]);
  }
  const isGiven = (name: string): boolean =>
    given.some(([each]) => each.toLowerCase() === name.toLowerCase());
  const fields = [...own.filter(([name]) => !isGiven(name!)), ...given];
  return [
    `${method} ${request.path} HTTP/1.1`,
    ...fields.map(([name, value]) => `${name}: ${value}`),
    '',
    Buffer.from(request.body).toString('latin1'),
  ].join('\r\n');
}

function asBytes(message: string): Buffer {
  return Buffer.from(message, 'latin1');
}
