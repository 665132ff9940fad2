import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { isDamaged } from '../answer/entry-format.ts';
import { checkStore, type Found, type JsonStore } from './json-store.ts';
import { refuseUnknown, positiveInteger } from '../validate.ts';
import type { Lease } from './lease.ts';

export interface CompressedOptions {
  /**
   * Values shorter than this, in characters, are stored unchanged.
   * @default 1_024
   */
  minLength?: number;
}

/* JSON never begins with it. */
const mark = '\u0002';
/* Longer than any seal. */
const maxTailLength = 64;

/**
 * Returns a store that compresses its values in `store`: less memory and less traffic, at the cost of inflating each hit.
 *
 * @throws {CacheError} ERR_REDLINE_CACHE_OPTION
 * @example
 * ```ts
 * const cache = new JsonCache({ store: compressed(redisStore(client)) });
 * ```
 */
export function compressed(store: JsonStore, options: CompressedOptions = {}): JsonStore {
  checkStore('The store given to compressed()', store);
  refuseUnknown('compressed', options, { minLength: true });
  const minLength = positiveInteger('minLength', options.minLength ?? 1_024);
  const pack = (raw: string): string => (raw.length < minLength ? raw : deflate(raw));
  const packing = ({ keep, release }: Lease, lease: Lease): Lease => ({
    keep: (raw, ttl) => keep.call(lease, pack(raw), ttl),
    release: () => release.call(lease),
  });
  return {
    get(key) {
      const found = store.get(key);
      return found instanceof Object ? found.then(unpack) : unpack(found);
    },
    set: (key, raw, ttl) => store.set(key, pack(raw), ttl),
    delete: (key) => store.delete(key),
    ...(store.clear && { clear: (keyPrefix) => store.clear!(keyPrefix) }),
    ...(store.purge && {
      purge: (keyPrefix, isMeant) => store.purge!(keyPrefix, isMeant),
    }),
    ...(store.tags && { tags: store.tags }),
    ...(store.lease && {
      async lease(key, outdated) {
        const lease = await store.lease!(key, outdated);
        return lease === 'made' ? lease : packing(lease, lease);
      },
    }),
    ...(store.replace && {
      replace: (key, old, raw, ttl) => store.replace!(key, old, pack(raw), ttl),
    }),
    ...(store.claim && { claim: (key, ms) => store.claim!(key, ms) }),
    ...(store.drops && { drops: store.drops }),
    ...(store.watchFaults && { watchFaults: (listener) => store.watchFaults!(listener) }),
    ...(store.close && { close: () => store.close!() }),
    holdsForeignValue: (error) => store.holdsForeignValue?.(error) === true,
  };
}

/* The seal stays readable: a store finds a value by its end. */
function deflate(raw: string): string {
  const at = raw.lastIndexOf('\n');
  const tail = at !== -1 && raw.length - at < maxTailLength ? raw.slice(at) : '';
  const body = tail === '' ? raw : raw.slice(0, at);
  return `${mark}${deflateRawSync(body, { level: 3 }).toString('base64')}${tail}`;
}

function unpack(found: Found): Found {
  if (typeof found !== 'string' || !found.startsWith(mark)) return found;
  const at = found.indexOf('\n');
  const [body, tail] = at === -1 ? [found, ''] : [found.slice(0, at), found.slice(at)];
  try {
    const raw = inflateRawSync(Buffer.from(body.slice(1), 'base64')).toString() + tail;
    // The compressed text is not JSON, so the cache replaces it.
    return isDamaged(raw) ? found : raw;
  } catch {
    return found;
  }
}
