import type { Cookies } from '../policy.ts';
import type { CacheRequest } from '../cached-route.ts';
import { hasIdentifiedCaller } from './identified-caller.ts';

/*
 * Cookies that scripts of analytics and consent banners set on every page of a site; servers do not read them. Names are
 * compared in full, because a cookie that only begins like one of them may be a session; the names without an end contain
 * an id of the site. The engine of `@redline/http` has the same list.
 */
const analyticsCookie =
  /^(?:_ga=|_ga_|_gid=|_gat=|_gat_|_gcl_au=|_gcl_aw=|_gcl_dc=|_gcl_gb=|_gcl_gs=|_gac_|__utma=|__utmb=|__utmc=|__utmt=|__utmv=|__utmz=|_fbp=|_fbc=|_pk_id\.|_pk_ses\.|_pk_ref\.|_pk_cvar\.|_hjid=|_hjSession_|_hjSessionUser_|_hjFirstSeen=|_clck=|_clsk=|_uetsid=|_uetvid=|_ttp=|_pin_unauth=|ajs_anonymous_id=|hubspotutk=|__hstc=|__hssc=|__hssrc=|OptanonConsent=|OptanonAlertBoxClosed=|CookieConsent=|_scid=|_rdt_uuid=|ln_or=|_ym_uid=|_ym_d=|_ym_isad=)/;

/** Returns true if the request identifies its caller, so that the response may be for that caller alone. */
export function carriesCredentials(request: CacheRequest, cookies: Cookies): boolean {
  const { headers } = request;
  // Checked one by one: looking up headers that are mostly absent in a loop costs a tenth of a hit.
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
  return hasIdentifiedCaller(request);
}

/** Returns true if a request may use the cache despite this cookie. */
export function isAnalyticsCookie(name: string): boolean {
  return analyticsCookie.test(`${name}=`);
}

function isAnalytics(cookie: string): boolean {
  return cookie.split(';').every((pair) => analyticsCookie.test(pair.trim()));
}

/** Returns the value of a cookie as it was sent; undefined if it is missing. */
export function cookieOf({ headers }: CacheRequest, name: string): string | undefined {
  for (const pair of headers.cookie?.split(';') ?? []) {
    const at = pair.indexOf('=');
    if (at !== -1 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}
