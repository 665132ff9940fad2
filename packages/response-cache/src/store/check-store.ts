import { CacheError } from '../errors.ts';
import type { JsonStore } from './json-store.ts';

/**
 * Checks for a store by its methods. A client of Redis has get and set as well, with other arguments.
 *
 * @throws {CacheError} ERR_REDLINE_CACHE_OPTION
 */
export function checkStore(what: string, store: JsonStore): JsonStore {
  const { get, set, delete: drop } = (store ?? {}) as Partial<JsonStore>;
  if ([get, set, drop].every((method) => typeof method === 'function')) return store;
  const got = (store as object | null)?.constructor?.name ?? String(store);
  throw new CacheError(
    'ERR_REDLINE_CACHE_OPTION',
    `${what} must have get, set and delete, as memoryStore(), redisStore(client) and tieredStore(client) have; got ${got}.`,
  );
}
