import type { CachedRoute, CacheRequest } from './cached-route.ts';
import { credentialHeaders, isAnalyticsCookie } from './credentials.ts';
import type { Reads } from './observe.ts';

/* They are part of the key, or say that there is a body, with which no request uses the cache. */
const keyed: ReadonlySet<string> = new Set([
  'host',
  ':authority',
  ':scheme',
  ':method',
  ':path',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-port',
  'x-forwarded-prefix',
  'forwarded',
  'content-length',
  'transfer-encoding',
  'content-type',
]);

/* They name one request. Handlers pass them on, and a response that had one in it would be of no use to any other. */
const ofOneRequest: ReadonlySet<string> = new Set([
  'x-request-id',
  'request-id',
  'x-correlation-id',
  'correlation-id',
  'x-trace-id',
  'x-amzn-trace-id',
  'x-cloud-trace-context',
  'traceparent',
  'tracestate',
  'baggage',
  'b3',
  'x-b3-traceid',
  'x-b3-spanid',
  'x-b3-parentspanid',
  'x-b3-sampled',
  'x-b3-flags',
  'uber-trace-id',
]);

const neverWithCaller: ReadonlySet<string> = new Set(credentialHeaders);

/**
 * Why a response may not be kept under the key of its request, by what was read while it was made; undefined if it may.
 * Headers that were read are part of the key from then on.
 *
 * A route with an `identify` or a `key` of its own says itself whom a response is for: there, what was read is only recorded.
 */
export function whyUnkeyed(
  route: CachedRoute,
  request: CacheRequest,
  reads: Reads,
): string | undefined {
  const learned = unkeyedHeaders(route, request, reads);
  record(route, reads);
  if (route.identify !== undefined || route.key !== undefined) return undefined;
  if (reads.areHeadersListed)
    return 'its handler reads all request headers at once, any of which may be in the response: read them by name, a logger within unobserved()';
  if (reads.isPeerRead)
    return 'its handler reads the address of the client, which is not part of the key';
  const [property] = reads.properties;
  if (property !== undefined)
    return `its handler reads ${property}, which was set ahead of the cache and may belong to the caller: name the caller with identify`;
  const cookie = unkeyedCookie(route, request, reads);
  if (cookie !== undefined)
    return `its handler reads ${cookie}: name it with identify: { cookie }, or the caller`;
  if (learned.length === 0) return undefined;
  route.vary.push(...learned);
  route.onVaryGrown?.();
  return `its handler reads the request header ${learned.join(', ')}, which is part of the key from now on`;
}

function record(route: CachedRoute, reads: Reads): void {
  const { headers, cookies, properties } = reads;
  for (const name of headers)
    if (!keyed.has(name) && !ofOneRequest.has(name)) route.reads.add(`the header ${name}`);
  for (const name of cookies) route.reads.add(`the cookie ${name}`);
  for (const name of properties) route.reads.add(name);
  if (reads.areHeadersListed) route.reads.add('all headers');
  if (reads.areCookiesListed) route.reads.add('all cookies');
  if (reads.isPeerRead) route.reads.add('the address of the client');
}

function unkeyedHeaders(
  { vary, versionHeaders }: CachedRoute,
  { headers }: CacheRequest,
  reads: Reads,
): string[] {
  const learned: string[] = [];
  for (const name of reads.headers) {
    if (keyed.has(name) || ofOneRequest.has(name) || name === 'cookie') continue;
    // A request that has one does not come here, so that all that do are alike.
    if (neverWithCaller.has(name) && headers[name] === undefined) continue;
    if (vary.includes(name) || versionHeaders.includes(name) || learned.includes(name)) continue;
    learned.push(name);
  }
  return learned;
}

/* With 'private', cookies of analytics are the only ones that come here. */
function unkeyedCookie(
  { cookies: meaning }: CachedRoute,
  { headers }: CacheRequest,
  { headers: read, cookies, areCookiesListed }: Reads,
): string | undefined {
  const isWhole = areCookiesListed || read.includes('cookie');
  if (meaning === 'private') {
    if (isWhole) return headers.cookie === undefined ? undefined : 'all cookies';
    const own = cookies.find(isAnalyticsCookie);
    return own && `the cookie ${own}`;
  }
  if (isWhole) return 'all cookies';
  const [first] = cookies;
  return first && `the cookie ${first}`;
}
