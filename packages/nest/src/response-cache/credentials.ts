import type { CacheRequest, Cookies } from './options.ts';

/* By which a client, or what stands before the app, says who is asking. */
const headersOfCallers = [
  'authorization',
  'proxy-authorization',
  'x-api-key',
  'api-key',
  'x-auth-token',
  'x-access-token',
  'x-tenant-id',
  'x-user-id',
];
/* Where guards, Passport and middleware put who is asking. */
const propertiesOfCallers = ['user', 'auth', 'tenant', 'apiKey', 'account'];
/* Set by scripts of analytics and consent banners on every page of a site; no server reads them. */
const analyticsCookie =
  /^(?:_ga|_gid|_gat|_gcl_|_gac_|__utm|_fbp|_fbc|_pk_|_hj|_clck|_clsk|_uet|_tt_|_ttp|_pin_|ajs_|amp_|mp_|ph_|hubspotutk|__hs|OptanonConsent|OptanonAlertBoxClosed|CookieConsent|_scid|_rdt_uuid|_li_|ln_or|_ym_)/;

/** Whether the request shows who is asking, so that its answer may be for him alone. */
export function carriesCredentials(request: CacheRequest, cookies: Cookies): boolean {
  const { headers } = request;
  for (const name of headersOfCallers) if (headers[name] !== undefined) return true;
  if (cookies === 'private' && headers.cookie !== undefined && !isAnalytics(headers.cookie))
    return true;
  if (namesCaller(request)) return true;
  // Nest's middleware gets Node's own request on Fastify.
  const { raw } = request as { raw?: object };
  return raw !== undefined && namesCaller(raw);
}

function namesCaller(request: object): boolean {
  for (const name of propertiesOfCallers) {
    if (((request as Record<string, unknown>)[name] ?? undefined) !== undefined) return true;
  }
  return false;
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
