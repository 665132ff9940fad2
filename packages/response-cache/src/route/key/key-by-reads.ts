import type { CachedRoute, CacheRequest } from '../cached-route.ts';
import { isAnalyticsCookie } from './credentials.ts';
import { credentialHeaders, type Reads } from '../reads/reads.ts';
import { AheadReads } from '../reads/ahead.ts';

/*
 * Headers that are part of the key, or announce a body, and requests with a body do not use the cache. `Forwarded` is not among
 * them, because it also has the address of the client; nor is `Content-Type`, which a client may send without a body.
 */
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
  'content-length',
  'transfer-encoding',
]);

/* Headers that name one request. Handlers pass them on, and a response that contained one would be useless to any other request. */
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
  'sentry-trace',
  'elastic-apm-traceparent',
  'newrelic',
  'x-datadog-trace-id',
  'x-datadog-parent-id',
  'x-datadog-sampling-priority',
  'x-datadog-tags',
  'x-datadog-origin',
  'x-request-start',
  'x-amz-cf-id',
  'cf-ray',
  'x-vercel-id',
  'fly-request-id',
]);

const neverWithCaller: ReadonlySet<string> = new Set(credentialHeaders);

/*
 * Headers that describe the browser, the connection and the proxies. Logs, limits, CORS and routing read them on each request,
 * ahead of the cache.
 */
const ofEachClient: ReadonlySet<string> = new Set(
  'accept accept-charset accept-encoding accept-version access-control-request-headers access-control-request-method access-control-request-private-network cache-control cf-connecting-ip client-ip connection content-type cookie date dnt fastly-client-ip forwarded if-match if-modified-since if-none-match if-range if-unmodified-since keep-alive max-forwards origin pragma priority proxy-connection purpose range referer referrer save-data sec-ch-ua sec-ch-ua-mobile sec-ch-ua-platform sec-fetch-dest sec-fetch-mode sec-fetch-site sec-fetch-user sec-gpc te trailer true-client-ip upgrade-insecure-requests user-agent via warning x-client-ip x-cluster-client-ip x-forwarded-for x-real-ip x-requested-with'.split(
    ' ',
  ),
);

/** The reads of the code after the cache, and of the code ahead of it. */
interface Seen {
  readonly reads: Reads;
  readonly ahead: AheadReads | 'unknown' | undefined;
}

/* Reasons that are not logged, because they are gone with the next request. */
export const unknownAhead = 'what ran ahead of the cache was not seen';
export const unknownPeer = 'who asked for the address of the client was not seen';

/**
 * Returns why a response may not be kept under the key of its request, judged by the reads while it was made; undefined if it
 * may. Headers that were read are part of the key from then on.
 *
 * A route with an `identify` or a `key` of its own decides itself which callers share a response: there, reads are only recorded.
 */
export function whyUnkeyed(
  route: CachedRoute,
  request: CacheRequest,
  { reads, ahead }: Seen,
): string | undefined {
  if (ahead === undefined && changesNothing(route, reads)) return undefined;
  const learned = unkeyedHeaders(route, request, reads.headers);
  const isSeen = ahead instanceof AheadReads;
  const passedOn = isSeen ? learnedAhead(route, request, ahead) : [];
  if (reads.properties.length > 0) route.readsProperties = true;
  if (reads.isPeerRead) route.readsPeer = true;
  record(route, reads);
  if (isSeen) recordAhead(route, ahead);
  noteIgnorable(route, reads.headers);
  if (route.identify !== undefined || route.key !== undefined) return undefined;
  const whole = whyNever(route, request, reads, 'handler');
  const why = whole ?? (isSeen ? whyNever(route, request, ahead, 'provider') : undefined);
  if (why !== undefined) return why;
  const ofProviders = passedOn.filter((name) => !learned.includes(name));
  if (learned.length + ofProviders.length === 0)
    return ahead === 'unknown' ? unknownAhead : undefined;
  route.vary.push(...learned, ...ofProviders);
  route.onVaryGrown?.();
  const who = [
    ...(learned.length === 0 ? [] : [`its handler reads the request header ${learned.join(', ')}`]),
    ...ofProviders.map(
      (name) =>
        `${(ahead as AheadReads).readers.get(name)!.name} reads the request header ${name} ahead of it`,
    ),
  ];
  return `${who.join(', and ')}, which is part of the key from now on`;
}

/* True if only ignorable headers were read, as for nearly every response of a route. */
function changesNothing({ ignorableReads }: CachedRoute, reads: Reads): boolean {
  if (reads.areHeadersListed || reads.areCookiesListed || reads.isPeerRead) return false;
  if (reads.cookies.length > 0 || reads.properties.length > 0) return false;
  for (const name of reads.headers) if (!ignorableReads.has(name)) return false;
  return true;
}

/* A header is ignorable once it is recorded and either part of the key for good or irrelevant, whatever its value. */
function noteIgnorable(route: CachedRoute, names: readonly string[]): void {
  const isOwnKey = route.identify !== undefined || route.key !== undefined;
  const { ignorableReads, vary, versionHeaders } = route;
  for (const name of names) {
    if (name === 'cookie' && !isOwnKey) continue;
    const isKeyed = keyed.has(name) || vary.includes(name) || versionHeaders.includes(name);
    if (isOwnKey || isKeyed || ofOneRequest.has(name)) ignorableReads.add(name);
  }
}

/* Returns the reason if a read has no place in a key. */
function whyNever(
  route: CachedRoute,
  request: CacheRequest,
  reads: Reads,
  by: 'handler' | 'provider',
): string | undefined {
  const who = by === 'handler' ? 'its handler' : 'a provider of its request';
  if (reads.areHeadersListed)
    return `${who} reads all request headers at once, any of which may be in the response: read them by name, a logger within unobserved()`;
  if (reads.mayBeOfOrigin) return unknownPeer;
  if (reads.isPeerRead)
    return `${who} reads the address of the client, which is not part of the key`;
  const [property] = reads.properties;
  if (property !== undefined)
    return `${who} reads ${property}, which was set ahead of the cache and may belong to the caller: name the caller with identify`;
  const cookie = unkeyedCookie(route, request, reads);
  return cookie === undefined
    ? undefined
    : `${who} reads ${cookie}: name it with identify: { cookie }, or the caller`;
}

/*
 * Middleware passes on its findings in a property, an AsyncLocalStorage or a table of its own. Either way, a response may depend
 * on them: on any header but those that are read for logs and limits.
 */
function learnedAhead(route: CachedRoute, request: CacheRequest, ahead: AheadReads): string[] {
  const names = [...ahead.readers].flatMap(([name, { isObserver, isOfHandler }]) =>
    isObserver || (ofEachClient.has(name) && !isOfHandler) ? [] : [name],
  );
  return unkeyedHeaders(route, request, names);
}

function recordAhead(route: CachedRoute, { readers, wholesale }: AheadReads): void {
  for (const [name, reader] of readers)
    if (!keyed.has(name) && !ofOneRequest.has(name))
      route.reads.add(`the header ${name}, ahead of the cache in ${reader.name}`);
  for (const [name, reader] of wholesale)
    route.reads.add(`${name}, ahead of the cache in ${reader.name}`);
}

function record(route: CachedRoute, reads: Reads): void {
  const { headers, cookies, properties } = reads;
  for (const name of headers)
    if (!keyed.has(name) && !ofOneRequest.has(name)) route.reads.add(`the header ${name}`);
  for (const name of cookies) route.reads.add(`the cookie ${name}`);
  for (const name of properties) route.reads.add(name);
  if (reads.areHeadersListed) route.reads.add('all headers');
  if (reads.areCookiesListed) route.reads.add('all cookies');
  if (reads.isPeerRead && !reads.mayBeOfOrigin) route.reads.add('the address of the client');
}

function unkeyedHeaders(
  { vary, versionHeaders }: CachedRoute,
  { headers }: CacheRequest,
  names: readonly string[],
): string[] {
  const learned: string[] = [];
  for (const name of names) {
    if (keyed.has(name) || ofOneRequest.has(name) || name === 'cookie') continue;
    // A request that has one does not get here, so all that do are alike.
    if (neverWithCaller.has(name) && headers[name] === undefined) continue;
    if (vary.includes(name) || versionHeaders.includes(name) || learned.includes(name)) continue;
    learned.push(name);
  }
  return learned;
}

/* With 'private', cookies of analytics are the only ones that get here. */
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
