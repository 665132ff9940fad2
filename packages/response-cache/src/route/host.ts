import type { CacheRequest } from './cached-route.ts';

/* RFC 3986, section 3.2: a name, an IPv4 or an IPv6 address, and a port. */
const authority = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]+)(?::\d*)?$/i;

/* Most requests name the same host as the previous one: comparing it costs less than the expression. */
let lastValid: string | undefined;

/**
 * Returns the host of a request; '' without one, as HTTP/1.0 allows, and undefined for an invalid one. By RFC 9112, section 3.2,
 * a server refuses such a request, and a proxy in front of the app may read another host from the same text.
 */
export function hostOf({ headers }: CacheRequest): string | undefined {
  // HTTP/2 has it only under this name.
  const host = headers.host ?? (headers[':authority'] as string | undefined);
  if (host === undefined) return '';
  if (host === lastValid) return host;
  if (!authority.test(host)) return undefined;
  lastValid = host;
  return host;
}

/**
 * The protocol of an app's links, as a proxy names it, and whether the connection has TLS. Both are in the key, because only the app
 * knows whether it trusts the proxy.
 */
export type Scheme = 'http' | 'https' | 'http over TLS' | 'https over TLS';
export const schemes: readonly Scheme[] = ['http', 'https', 'http over TLS', 'https over TLS'];

/** Returns undefined for an unknown protocol, or if several proxies disagree: Express believes the first, Fastify the last. */
export function schemeOf(request: CacheRequest): Scheme | undefined {
  const { headers } = request;
  const forwarded = headers['x-forwarded-proto'];
  const isSecure = isOverTls(request);
  if (forwarded === undefined) return isSecure ? 'https over TLS' : 'http';
  const named = forwarded === 'https' || forwarded === 'http' ? forwarded : theOne(forwarded);
  return named !== undefined && isSecure ? `${named} over TLS` : named;
}

function theOne(forwarded: string | string[]): 'http' | 'https' | undefined {
  const [first, ...others] = String(forwarded)
    .split(',')
    .map((each) => each.trim());
  if (others.some((other) => other !== first)) return undefined;
  // Express copies any other text into its links.
  return first === 'http' || first === 'https' ? first : undefined;
}

/* The properties by which Node's requests of HTTP/1 and HTTP/2 show that their connection has TLS. */
interface Connected {
  readonly socket?: { readonly encrypted?: boolean } | null;
  readonly stream?: { readonly session?: { readonly encrypted?: boolean } };
}

/* The prototype of the last request: usually, all requests of an app have the same. */
let lastPrototype: unknown;
let hasOwnSocket = true;

function isOverTls(request: CacheRequest & { readonly raw?: object }): boolean {
  const raw = (request.raw ?? request) as Connected;
  const prototype: object | null = Object.getPrototypeOf(raw);
  if (prototype !== lastPrototype) {
    lastPrototype = prototype;
    hasOwnSocket = prototype === null || !('socket' in prototype);
  }
  if (hasOwnSocket) return raw.socket?.encrypted === true;
  // A read of `socket` would make the engine of @redline/http create one; it leaves TLS to Node.
  return raw.stream?.session?.encrypted === true;
}

export type Forwarded = Readonly<
  Record<'host' | 'port' | 'prefix' | 'forwarded', string | undefined>
>;

export const notForwarded: Forwarded = {
  host: undefined,
  port: undefined,
  prefix: undefined,
  forwarded: undefined,
};

/**
 * Returns the origin that proxies name, as far as it differs from that of the request itself: a request that repeats the
 * host in `X-Forwarded-Host` gets the same response as one that does not, and `delete(url)` finds it.
 */
export function forwardedOf({ headers }: CacheRequest, host: string, scheme: Scheme): Forwarded {
  const [sentHost, sentPort] = [headers['x-forwarded-host'], headers['x-forwarded-port']];
  const [prefix, forwarded] = [headers['x-forwarded-prefix'], headers.forwarded];
  if (
    sentHost === undefined &&
    sentPort === undefined &&
    prefix === undefined &&
    forwarded === undefined
  )
    return notForwarded;
  const protocol = scheme.startsWith('https') ? 'https' : 'http';
  const port = String(sentPort ?? '');
  const isSamePort = port === '' || port === portOf(host, protocol);
  const found: Forwarded = {
    host: sentHost === undefined || sentHost === host ? undefined : String(sentHost),
    port: isSamePort ? undefined : port,
    prefix: prefix === undefined || prefix === '' ? undefined : String(prefix),
    forwarded: forwarded === undefined ? undefined : originIn(forwarded, host, protocol),
  };
  return Object.values(found).some((each) => each !== undefined) ? found : notForwarded;
}

function portOf(host: string, scheme: 'http' | 'https'): string {
  const port = /:(\d+)$/.exec(host)?.[1];
  return port ?? (scheme === 'https' ? '443' : '80');
}

/* RFC 7239: `for` and `by` are different for each client, and links are not made from them. */
function originIn(forwarded: string, host: string, scheme: 'http' | 'https'): string | undefined {
  const named = forwarded
    .split(/[;,]/)
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '' && !/^(?:for|by)\s*=/i.test(pair));
  const same = new Set([`host=${host}`, `host="${host}"`, `proto=${scheme}`]);
  const different = named.filter((pair) => !same.has(pair));
  return different.length === 0 ? undefined : named.join(';');
}
