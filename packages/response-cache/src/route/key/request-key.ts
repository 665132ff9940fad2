import { CacheError } from '../../errors.ts';
import type { Identify } from '../policy.ts';
import type { CacheRequest, KeyRules } from '../cached-route.ts';
import { carriesCredentials, cookieOf } from './credentials.ts';
import {
  forwardedOf,
  hostOf,
  notForwarded,
  schemeOf,
  schemes,
  type Forwarded,
  type Scheme,
} from '../host.ts';
import { ignoreRejection } from '../../validate.ts';

const slash = 0x2f;

/** Returns the key of the response to `request`; undefined if that may not be shared, or depends on more than a key has. */
export function requestKey(request: CacheRequest, rules: KeyRules): string | undefined {
  if (hasBody(request)) return undefined;
  if (hostOf(request) === undefined) return undefined;
  const { identify, vary, key } = rules;
  let caller: string | undefined;
  if (identify === undefined) {
    if (carriesCredentials(request, rules.cookies)) return undefined;
  } else if (identify !== 'public') {
    const name = nameOf(request, identify);
    if (name === undefined || name === '') return undefined;
    if (typeof name !== 'string') throw notAString('identify', rules.name, name);
    caller = name;
  }
  const variant = vary.length === 0 ? undefined : variantOf(request, vary);
  if (key === undefined) return urlKey(request, rules, caller, variant);
  const own = typeof key === 'string' ? key : ownKey(request, key, rules.name);
  return own === undefined ? undefined : keyOf('key', caller, variant, own);
}

/** Returns the key of a response made for HEAD, used if `key` has no response: a handler may look at the method. */
export function headKeyOf(key: string): string {
  return keyOf('HEAD', key);
}

/** Selects the responses of one URL, or of one `key`. */
export interface KeysOf {
  /** '' for an app whose hosts share their responses. */
  readonly hosts: readonly string[];
  readonly caller: string | undefined;
  /** The `X-Forwarded-Prefix` of the proxy. */
  readonly prefix: string | undefined;
}

/** Returns the keys of all responses that a URL, or the `key` of a route, may have without `vary`. */
export function keysOf(text: string, { hosts, caller, prefix }: KeysOf): string[] {
  const keys = [keyOf('key', caller, undefined, text)];
  for (const host of hosts) {
    // Hosts that share their responses have no scheme.
    const known = host === '' ? [undefined] : schemes;
    for (const scheme of known) {
      const forwarded = prefix === undefined ? notForwarded : { ...notForwarded, prefix };
      const origin: Origin = { scheme, host: host === '' ? undefined : host, forwarded };
      keys.push(originKey({ caller, variant: undefined, origin, version: '', url: text }));
    }
  }
  return keys.flatMap((key) => [key, headKeyOf(key)]);
}

/* Frameworks pass a body to handlers of GET as well, and a key cannot contain all of it. */
function hasBody({ headers, raw, stream }: CacheRequest & Http2): boolean {
  const length = headers['content-length'];
  if (length !== undefined && length !== '0') return true;
  if (headers['transfer-encoding'] !== undefined) return true;
  // HTTP/2 has bodies without a header that announces them, and headers that HTTP/1 does not have.
  return headers[':method'] !== undefined && (raw ?? { stream }).stream?.endAfterHeaders === false;
}

/* A request of HTTP/2: Fastify's contains Node's own. */
interface Http2 {
  readonly raw?: { readonly stream?: { readonly endAfterHeaders?: boolean } };
  readonly stream?: { readonly endAfterHeaders?: boolean };
}

function nameOf(
  request: CacheRequest,
  identify: Exclude<Identify<CacheRequest>, 'public'>,
): unknown {
  if (typeof identify === 'function') return identify(request);
  if ('cookie' in identify) return cookieOf(request, identify.cookie);
  const value = request.headers[identify.header.toLowerCase()];
  return Array.isArray(value) ? value.join() : value;
}

/* Includes their names: another process may have learned different ones. */
function variantOf({ headers }: CacheRequest, vary: readonly string[]): string {
  return keyOf(
    ...vary.flatMap((name) => {
      const value = headers[name];
      return [name, Array.isArray(value) ? keyOf(...value) : value];
    }),
  );
}

function ownKey(
  request: CacheRequest,
  key: Exclude<KeyRules['key'], string | undefined>,
  name: string,
): string | undefined {
  const made: unknown = key(request);
  // Only the `trackBy` of the module is typed to return undefined.
  if (made === undefined) return undefined;
  if (typeof made !== 'string') throw notAString('key', name, made);
  return made;
}

function urlKey(
  request: CacheRequest,
  rules: KeyRules,
  caller: string | undefined,
  variant: string | undefined,
): string | undefined {
  const { query, hosts } = rules;
  // RFC 9112, section 3.2.2: an absolute target has a host of its own besides Host, and delete(url) would not find its response.
  if (request.originalUrl.charCodeAt(0) !== slash) return undefined;
  const url = query === undefined ? request.originalUrl : withQuery(request.originalUrl, query);
  const own = typeof rules.version === 'string' ? rules.version : rules.version(request);
  const routed = rewrittenUrl(request);
  const version = routed === undefined ? own : keyOf(own, routed);
  if (hosts === 'any') return originKey({ caller, variant, origin: anyOrigin, version, url });
  const host = hostOf(request);
  if (host === undefined || (hosts !== undefined && !hosts.includes(host))) return undefined;
  const scheme = schemeOf(request);
  if (scheme === undefined) return undefined;
  const origin = { scheme, host, forwarded: forwardedOf(request, host, scheme) };
  return originKey({ caller, variant, origin, version, url });
}

/**
 * Returns the URL by which the router has found the route, if that is not the one that was sent: a middleware may have chosen it
 * by a cookie, a client or a host, and two routes may serve one URL. Undefined if both are the same.
 */
export function rewrittenUrl({ originalUrl, url, baseUrl }: CacheRequest): string | undefined {
  if (url === undefined || url === originalUrl) return undefined;
  if (!baseUrl) return url;
  const whole = baseUrl + url;
  // A router of Express sees "/" for its own path.
  if (whole === originalUrl || baseUrl + url.slice(1) === originalUrl) return undefined;
  return whole;
}

/** The origin of a URL, which the absolute links in its response have; without values if hosts share their responses. */
interface Origin {
  readonly scheme: Scheme | undefined;
  readonly host: string | undefined;
  readonly forwarded: Forwarded;
}

const anyOrigin: Origin = { scheme: undefined, host: undefined, forwarded: notForwarded };

interface UrlParts {
  readonly caller: string | undefined;
  readonly variant: string | undefined;
  readonly origin: Origin;
  readonly version: string;
}

/* The parts before the URL are usually those of the last request; joining them again takes 130 ns of a hit. */
let last: UrlParts & { readonly text: string } = {
  caller: undefined,
  variant: undefined,
  origin: anyOrigin,
  version: '',
  text: beforeUrl({ caller: undefined, variant: undefined, origin: anyOrigin, version: '' }),
};

function originKey(parts: UrlParts & { readonly url: string }): string {
  const { caller, variant, origin, version, url } = parts;
  const isLast =
    last.origin.host === origin.host &&
    last.origin.scheme === origin.scheme &&
    last.origin.forwarded === origin.forwarded &&
    last.caller === caller &&
    last.variant === variant &&
    last.version === version;
  if (!isLast) last = { caller, variant, origin, version, text: beforeUrl(parts) };
  return last.text + keyOf(url);
}

function beforeUrl({
  caller,
  variant,
  origin: { scheme, host, forwarded },
  version,
}: UrlParts): string {
  // Usually nothing is forwarded.
  const ofProxies =
    forwarded === notForwarded
      ? undefined
      : keyOf(forwarded.host, forwarded.port, forwarded.prefix, forwarded.forwarded);
  return keyOf('url', caller, variant, scheme, host, ofProxies, version);
}

function withQuery(url: string, allowed: ReadonlySet<string>): string {
  const at = url.indexOf('?');
  if (at === -1) return url;
  const kept = url
    .slice(at + 1)
    .split('&')
    .filter((pair) => allowed.has(decoded(pair.split('=', 1)[0]!)))
    // Sorted only by name: the order of values under one name matters.
    .map((pair) => [decoded(pair.split('=', 1)[0]!), pair] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, pair]) => pair);
  return kept.length === 0 ? url.slice(0, at) : `${url.slice(0, at)}?${kept.join('&')}`;
}

function decoded(name: string): string {
  try {
    // A list is `tag[]=a&tag[]=b` to some parsers, and `tag` to the handler.
    return decodeURIComponent(name.replaceAll('+', ' ')).replace(/\[.*$/, '');
  } catch {
    return name;
  }
}

function notAString(option: 'key' | 'identify', name: string, made: unknown): CacheError {
  ignoreRejection(made);
  return new CacheError(
    'ERR_REDLINE_CACHE_KEY',
    `The option ${option} of ${name} must return a string; got ${made === null ? 'null' : `a value of type ${typeof made}`}.`,
  );
}

/**
 * Returns the text of a key. Every key of this package and of `@redline/nest` is made here: the length in front of each part
 * makes it impossible for the text of one part, which a client may choose, to reach into the next.
 *
 * Undefined differs from every text, so an absent part needs no text of its own.
 */
export function keyOf(...parts: readonly (string | undefined)[]): string {
  let key = '';
  for (const part of parts) key += part === undefined ? '-' : `${part.length}:${part}`;
  return key;
}
