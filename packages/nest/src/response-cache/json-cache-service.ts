import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { JsonCache, JsonCacheStats } from '@redline/response-cache';
import { cacheToken } from './json-cache-interceptor.ts';
import { callerKey } from './request-key.ts';

/**
 * The cache behind `@JsonCache`, to look at and to delete from.
 *
 * @example
 * ```ts
 * constructor(private readonly cache: JsonCacheService) {}
 *
 * async rename(id: string, title: string) {
 *   await this.articles.rename(id, title);
 *   await this.cache.delete(`/articles/${id}`);
 * }
 * ```
 */
@Injectable()
export class JsonCacheService implements OnApplicationShutdown {
  readonly #cache: JsonCache;

  constructor(@Inject(cacheToken) cache: JsonCache) {
    this.#cache = cache;
  }

  /** The counters as they stand. */
  get stats(): JsonCacheStats {
    return { ...this.#cache.stats };
  }

  /** True during an outage of the store. */
  get isStoreDown(): boolean {
    return this.#cache.isStoreDown;
  }

  /**
   * Forgets one answer.
   *
   * @param key the URL with its query string as it is requested, or what the `key` of the route makes
   * @param caller what the `identify` of the route makes; left out where it is absent or `'public'`
   * @throws {CacheError} ERR_REDLINE_CACHE_STORE_DOWN: the store may give out the old answer once it is back, until its time is up.
   */
  delete(key: string, caller?: string): Promise<void> {
    return this.#cache.delete(callerKey(key, caller));
  }

  onApplicationShutdown(): void {
    this.#cache.close();
  }
}
