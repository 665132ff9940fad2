import { Logger } from '@nestjs/common';
import { CacheError, JsonCache, type JsonCacheOptions } from '@redline/response-cache';
import type { JsonCacheModuleOptions, NamedCacheOptions } from './options.ts';

/** The caches of one app: one without a name, and those of `caches`. */
export class JsonCaches {
  readonly #caches = new Map<string | undefined, JsonCache>();

  /** @throws {CacheError} ERR_REDLINE_CACHE_OPTION */
  constructor(options: JsonCacheModuleOptions) {
    const { ttl, timeoutMs, logger = new Logger('JsonCache') } = options;
    const common = {
      ...(ttl === undefined ? {} : { ttl }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      logger,
    };
    this.#caches.set(undefined, makeCache({ ...common, name: 'default' }, options));
    for (const [name, own] of Object.entries(options.caches ?? {}))
      this.#caches.set(name, makeCache({ ...common, name, keyPrefix: `${name}:` }, own));
  }

  /** @throws {CacheError} ERR_REDLINE_CACHE_OPTION: the name is unknown. */
  named(name: string | undefined): JsonCache {
    const cache = this.#caches.get(name);
    if (cache !== undefined) return cache;
    throw new CacheError(
      'ERR_REDLINE_CACHE_OPTION',
      `Unknown cache "${name}": the caches of JsonCacheModule are ${[...this.#caches.keys()].filter(Boolean).join(', ') || 'not configured'}.`,
    );
  }

  all(): JsonCache[] {
    return [...this.#caches.values()];
  }
}

function makeCache(defaults: JsonCacheOptions, options: NamedCacheOptions): JsonCache {
  const { store, ttl, keyPrefix, timeoutMs } = options;
  return new JsonCache({
    ...defaults,
    ...(store === undefined ? {} : { store: typeof store === 'function' ? store() : store }),
    ...(ttl === undefined ? {} : { ttl }),
    ...(keyPrefix === undefined ? {} : { keyPrefix }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
}
