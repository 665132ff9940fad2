import type { Cookies } from './policy.ts';
import type { CacheRequest } from './cached-route.ts';
import { namesCaller } from './named-caller.ts';

/* Set by scripts of analytics and consent banners on every page of a site; no server reads them. */
const analyticsCookie =
  /^(?:_ga|_gid|_gat|_gcl_|_gac_|__utm|_fbp|_fbc|_pk_|_hj|_clck|_clsk|_uet|_tt_|_ttp|_pin_|ajs_|amp_|mp_|ph_|hubspotutk|__hs|OptanonConsent|OptanonAlertBoxClosed|CookieConsent|_scid|_rdt_uuid|_li_|ln_or|_ym_)/;

/** The request headers, beside `Cookie`, that show who is asking. */
export const credentialHeaders: readonly string[] = [
  'authorization',
  'proxy-authorization',
  'x-api-key',
  'api-key',
  'x-auth-token',
  'x-access-token',
  'x-tenant-id',
  'x-user-id',
];

/** Whether the request shows who is asking, so that its answer may be for him alone. */
export function carriesCredentials(request: CacheRequest, cookies: Cookies): boolean {
  const { headers } = request;
  // One by one: looked up in a loop, what is mostly absent costs a tenth of a hit.
  if (
    headers.authorization !== undefined ||
    headers['proxy-authorization'] !== undefined ||
    headers['x-api-key'] !== undefined ||
    headers['api-key'] !== undefined ||
    headers['x-auth-token'] !== undefined ||
    headers['x-access-token'] !== undefined ||
    headers['x-tenant-id'] !== undefined ||
    headers['x-user-id'] !== undefined
  ) {
    return true;
  }
  if (cookies === 'private' && headers.cookie !== undefined && !isAnalytics(headers.cookie))
    return true;
  return namesCaller(request);
}

function isAnalytics(cookie: string): boolean {
  return cookie.split(';').every((pair) => analyticsCookie.test(pair.trim()));
}

/** The value of one cookie as it was sent; undefined when there is none. */
export function cookieOf({ headers }: CacheRequest, name: string): string | undefined {
  for (const pair of headers.cookie?.split(';') ?? []) {
    const at = pair.indexOf('=');
    if (at !== -1 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}
