import type { CacheRequest } from './cached-route.ts';

/* RFC 3986, section 3.2: a name, an IPv4 or an IPv6 address, and a port. */
const authority = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]+)(?::\d*)?$/i;

/* Most requests name the host of the one before: comparing it costs less than the expression. */
let lastValid = '';

/**
 * The host a request names; undefined if that is not one. By RFC 9112, section 3.2, such a request is to be refused, and
 * what is in front of the app may route it by another reading of the same text. HTTP/1.0 allows none.
 */
export function hostOf({ headers }: CacheRequest): string | undefined {
  // HTTP/2 has it under this name alone.
  const host = headers.host ?? (headers[':authority'] as string | undefined) ?? '';
  if (host === lastValid) return host;
  if (host !== '' && !authority.test(host)) return undefined;
  lastValid = host;
  return host;
}

/**
 * The protocol of the links an app makes. It is for the app to decide whether it trusts the proxy. Undefined where
 * several proxies disagree: Express believes the first, Fastify the last.
 */
export function schemeOf({ headers }: CacheRequest): 'http' | 'https' | undefined {
  const forwarded = headers['x-forwarded-proto'];
  if (forwarded === undefined || forwarded === 'http') return 'http';
  if (forwarded === 'https') return 'https';
  const [first, ...others] = String(forwarded)
    .split(',')
    .map((each) => each.trim().toLowerCase());
  if (others.some((other) => other !== first)) return undefined;
  return first === 'http' || first === 'https' ? first : undefined;
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
 * What proxies say of the origin, as far as that differs from what the request itself says: whoever repeats the host in
 * `X-Forwarded-Host` gets the response of whoever does not, and `delete(url)` finds it.
 */
export function forwardedOf(
  { headers }: CacheRequest,
  host: string,
  scheme: 'http' | 'https',
): Forwarded {
  const [sentHost, sentPort] = [headers['x-forwarded-host'], headers['x-forwarded-port']];
  const [prefix, forwarded] = [headers['x-forwarded-prefix'], headers.forwarded];
  if (
    sentHost === undefined &&
    sentPort === undefined &&
    prefix === undefined &&
    forwarded === undefined
  )
    return notForwarded;
  const port = String(sentPort ?? '');
  const isSamePort = port === '' || port === portOf(host, scheme);
  const found: Forwarded = {
    host: sentHost === undefined || sentHost === host ? undefined : String(sentHost),
    port: isSamePort ? undefined : port,
    prefix: prefix === undefined || prefix === '' ? undefined : String(prefix),
    forwarded: forwarded === undefined ? undefined : originIn(forwarded, host, scheme),
  };
  return Object.values(found).some((each) => each !== undefined) ? found : notForwarded;
}

function portOf(host: string, scheme: 'http' | 'https'): string {
  const port = /:(\d+)$/.exec(host)?.[1];
  return port ?? (scheme === 'https' ? '443' : '80');
}

/* RFC 7239: `for` and `by` are different for each client, and no link is made of them. */
function originIn(forwarded: string, host: string, scheme: 'http' | 'https'): string | undefined {
  const named = forwarded
    .split(/[;,]/)
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '' && !/^(?:for|by)\s*=/i.test(pair));
  const same = new Set([`host=${host}`, `host="${host}"`, `proto=${scheme}`]);
  const different = named.filter((pair) => !same.has(pair));
  return different.length === 0 ? undefined : named.join(';');
}
