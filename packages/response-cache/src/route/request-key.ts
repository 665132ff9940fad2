import { CacheError } from '../errors.ts';
import type { Identify } from './policy.ts';
import type { CacheRequest, KeyRules } from './cached-route.ts';
import { carriesCredentials, cookieOf } from './credentials.ts';

/* Before the host, in the keys of those who come through a proxy by https. */
const httpsPrefix = 'https://';

/** The key of the answer to `request`; undefined when the answer may not be shared. */
export function requestKey(request: CacheRequest, rules: KeyRules): string | undefined {
  const { identify } = rules;
  let caller: string | undefined;
  if (identify === undefined) {
    if (carriesCredentials(request, rules.cookies)) return undefined;
  } else if (identify !== 'public') {
    const name = nameOf(request, identify);
    if (name === undefined || name === '') return undefined;
    if (typeof name !== 'string') throw notAString('identify', rules.name, name);
    caller = name;
  }
  const resource = resourceKey(request, rules);
  if (resource === undefined) return undefined;
  const key = callerKey(resource, caller);
  return rules.vary.length === 0 ? key : variantKey(request, rules.vary, key);
}

/** The keys of a URL on `host`: what is sent through a proxy by https is another response. */
export function urlKeysOf(host: string, url: string): readonly string[] {
  return [host + url, httpsPrefix + host + url];
}

/*
 * The length makes it impossible to forge: a caller who chooses what is in the key or in his own name cannot
 * reach what belongs to another.
 */
export function callerKey(resource: string, caller?: string): string {
  return caller === undefined ? `public:${resource}` : `${caller.length}:${caller}:${resource}`;
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

function variantKey({ headers }: CacheRequest, vary: readonly string[], key: string): string {
  const values = JSON.stringify(vary.map((name) => [name, headers[name] ?? null]));
  return `vary:${values.length}:${values}:${key}`;
}

function resourceKey(request: CacheRequest, rules: KeyRules): string | undefined {
  const { key } = rules;
  if (key === undefined) return urlKey(request, rules);
  if (typeof key === 'string') return key;
  const made: unknown = key(request);
  // Only the `trackBy` of the module is typed to do so.
  if (made === undefined) return undefined;
  if (typeof made !== 'string') throw notAString('key', rules.name, made);
  return made;
}

function urlKey(request: CacheRequest, rules: KeyRules): string | undefined {
  const { version, query, hosts } = rules;
  const url = query === undefined ? request.originalUrl : withQuery(request.originalUrl, query);
  const path = (typeof version === 'string' ? version : version(request)) + url;
  if (hosts === 'any') return path;
  const host = hostOf(request);
  if (hosts !== undefined && !hosts.includes(host)) return undefined;
  const scheme = schemeOf(request);
  return scheme === undefined ? undefined : scheme + host + path;
}

/* Both, since it is for the app's trust in proxies to decide which of them a link is made of. */
function hostOf({ headers }: CacheRequest): string {
  const forwarded = headers['x-forwarded-host'];
  const host = headers.host ?? '';
  return forwarded === undefined || forwarded === host ? host : `${host},${String(forwarded)}`;
}

/**
 * As with the host, the app decides whether it trusts the proxy, and then makes links of what that says. Undefined where
 * several proxies disagree: Express believes the first, Fastify the last.
 */
function schemeOf({ headers }: CacheRequest): string | undefined {
  const forwarded = headers['x-forwarded-proto'];
  if (forwarded === undefined || forwarded === 'http') return '';
  if (forwarded === 'https') return httpsPrefix;
  const [first, ...others] = String(forwarded)
    .split(',')
    .map((each) => each.trim().toLowerCase());
  if (others.some((other) => other !== first)) return undefined;
  return first === 'http' ? '' : first === 'https' ? httpsPrefix : undefined;
}

function withQuery(url: string, allowed: ReadonlySet<string>): string {
  const at = url.indexOf('?');
  if (at === -1) return url;
  const kept = url
    .slice(at + 1)
    .split('&')
    .filter((pair) => allowed.has(decoded(pair.split('=', 1)[0]!)))
    // By name alone: the order of values under one name counts.
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
  return new CacheError(
    'ERR_REDLINE_CACHE_KEY',
    `The option ${option} of ${name} must return a string; got ${made === null ? 'null' : `a value of type ${typeof made}`}.`,
  );
}
