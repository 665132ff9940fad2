import { aText, checkValues, wrongValue, refuseUnknown } from '../validate.ts';

/** Selects responses of routes by their URL. */
export type PurgeOf =
  /** The URL from its first slash on, with its query string as requested. */
  | { readonly url: string }
  /** All URLs that begin with this. */
  | { readonly prefix: string };

/**
 * Returns a predicate for the keys of the responses to the given URLs.
 *
 * @throws {CacheError} ERR_REDLINE_CACHE_OPTION
 */
export function keysToPurge(of: PurgeOf, keyPrefix: string): (key: string) => boolean {
  refuseUnknown('purge', of, { url: true, prefix: true });
  checkValues('purge', of, { url: aText, prefix: aText });
  const { url, prefix } = of as { url?: string; prefix?: string };
  if ((url === undefined) === (prefix === undefined))
    throw wrongValue('url or prefix of purge', 'given, one of them', of);
  return (key) => {
    const own = key.startsWith(keyPrefix) ? urlOf(key.slice(keyPrefix.length)) : undefined;
    if (own === undefined) return false;
    return url === undefined ? own.startsWith(prefix!) : own === url;
  };
}

/** Returns the URL in the key of a route; undefined for any other key. */
function urlOf(key: string): string | undefined {
  const parts = partsOf(key);
  if (parts?.[0] === 'HEAD' && parts.length === 2) return urlOf(parts[1] ?? '');
  return parts?.[0] === 'url' ? parts.at(-1) : undefined;
}

/** Splits a key into the parts that `keyOf` joined; undefined for a text that it has not made. */
function partsOf(key: string): (string | undefined)[] | undefined {
  const parts: (string | undefined)[] = [];
  for (let at = 0; at < key.length;) {
    if (key[at] === '-') {
      parts.push(undefined);
      at += 1;
      continue;
    }
    const colon = key.indexOf(':', at);
    const digits = colon === -1 ? '' : key.slice(at, colon);
    if (!/^\d{1,15}$/.test(digits)) return undefined;
    const end = colon + 1 + Number(digits);
    if (end > key.length) return undefined;
    parts.push(key.slice(colon + 1, end));
    at = end;
  }
  return parts;
}
