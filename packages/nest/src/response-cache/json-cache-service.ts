import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { JsonCache, JsonCacheStats } from '@redline/response-cache';
import { JsonCacheError } from './errors.ts';
import { cacheToken } from './json-cache-interceptor.ts';
import { JsonCacheRoutes, optionsToken } from './json-cache-routes.ts';
import type { JsonCacheModuleOptions } from './options.ts';
import { callerKey } from './request-key.ts';

/** The counters of the cache, and those of its routes. */
export interface RouteCacheStats extends JsonCacheStats {
  /** Requests that did not use the cache, since they showed who is asking or were for a host of no concern. */
  readonly private: number;
}

/** Which of the answers under one key. */
export interface AnswerOf {
  /** What the `identify` of the route makes; left out where it is absent or `'public'`. */
  caller?: string | undefined;
  /** As requests name it, with its port where that is not the default; '' for a `key` of your own that begins with a slash. */
  host?: string | undefined;
}

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
  readonly #routes: JsonCacheRoutes;
  readonly #hosts: JsonCacheModuleOptions['hosts'];

  constructor(
    @Inject(cacheToken) cache: JsonCache,
    @Inject(JsonCacheRoutes) routes: JsonCacheRoutes,
    @Inject(optionsToken) options: JsonCacheModuleOptions,
  ) {
    this.#cache = cache;
    this.#routes = routes;
    this.#hosts = options.hosts;
  }

  /** The counters as they stand. */
  get stats(): RouteCacheStats {
    return { ...this.#cache.stats, private: this.#routes.privateRequests };
  }

  /** True during an outage of the store. */
  get isStoreDown(): boolean {
    return this.#cache.isStoreDown;
  }

  /**
   * Forgets one answer.
   *
   * @param key the URL from its first slash on, with its query string as it is requested, or what the `key` of the route
   *   makes. A URL is forgotten for all `hosts` of the module, or for the one that is given.
   * @throws {JsonCacheError} ERR_REDLINE_CACHE_KEY: a URL without a host, where the module names none.
   * @throws {CacheError} ERR_REDLINE_CACHE_STORE_DOWN: the store may give out the old answer once it is back, until its time is up.
   */
  async delete(key: string, of: string | AnswerOf = {}): Promise<void> {
    const { caller, host }: AnswerOf = typeof of === 'string' ? { caller: of } : of;
    const keys = this.#hostsOf(key, host).map((each) => callerKey(each + key, caller));
    await Promise.all(keys.map((each) => this.#cache.delete(each)));
  }

  onApplicationShutdown(): void {
    this.#cache.close();
  }

  #hostsOf(key: string, host: string | undefined): readonly string[] {
    if (host !== undefined) return [host];
    if (!key.startsWith('/') || this.#hosts === 'any') return [''];
    if (this.#hosts !== undefined) return this.#hosts;
    throw new JsonCacheError(
      'ERR_REDLINE_CACHE_KEY',
      `The key "${key}" lacks its host: each host has answers of its own. Give delete() the host, or name the hosts of the app in the hosts of JsonCacheModule ('any', where no answer depends on the host).`,
    );
  }
}
