import { inspect } from 'node:util';
import { CacheError } from '../errors.ts';
import type { JsonCache } from './json-cache.ts';

/**
 * Recognises a JsonCache by its methods, because another copy of the package may have made it.
 *
 * @throws {CacheError} ERR_REDLINE_CACHE_OPTION
 */
export function requireCache(what: string, cache: JsonCache): void {
  const { answer, peek } = (cache ?? {}) as Partial<JsonCache>;
  if (typeof answer === 'function' && typeof peek === 'function') return;
  throw new CacheError(
    'ERR_REDLINE_CACHE_OPTION',
    `${what} must be a JsonCache; got ${inspect(cache, { depth: 0 })}.`,
  );
}
