import type { OnApplicationShutdown } from '@nestjs/common';
import {
  CacheError,
  type AnswerOptions,
  type CacheDecision,
  type InvalidateOptions,
  type JsonCache,
  type JsonCacheStats,
  type PurgeOf,
  type SetOptions,
} from '@redline/response-cache';
import { decide, keyOf, keysOf } from '@redline/response-cache/route';
import type { JsonCacheRoutes } from './json-cache-routes.ts';
import type { JsonCaches } from './json-caches.ts';
import type { JsonCacheModuleOptions } from './options.ts';

/** The counters of the cache, and those of its routes. */
export interface RouteCacheStats extends JsonCacheStats {
  /** Requests that did not use the cache, because they identify their caller or are for a host outside `hosts`. */
  readonly private: number;
}

/** Selects one of the responses under one key. */
export interface AnswerOf {
  /** The result of the route's `identify`; omitted if that is absent or `'public'`. */
  caller?: string | undefined;
  /** As in the request, with its port unless that is the default; '' for your own `key` that begins with a slash. */
  host?: string | undefined;
  /** The `X-Forwarded-Prefix` of the proxy, if it sends one. */
  prefix?: string | undefined;
}

/** Options of `wrap`. */
export type WrapOptions = Pick<
  AnswerOptions,
  'ttl' | 'stale' | 'early' | 'renew' | 'patience' | 'tags' | 'staleOnError'
>;

/**
 * The cache of `@JsonCache`: the responses of its routes, and your own values.
 *
 * @example
 * ```ts
 * constructor(private readonly cache: JsonCacheService) {}
 *
 * find(id: string) {
 *   return this.cache.wrap(`article:${id}`, () => this.db.article(id), { tags: [`article:${id}`] });
 * }
 *
 * async rename(id: string, title: string) {
 *   await this.db.rename(id, title);
 *   await this.cache.invalidate(`article:${id}`);
 * }
 * ```
 */
export class JsonCacheService implements OnApplicationShutdown {
  readonly #caches: JsonCaches;
  readonly #cache: JsonCache;
  readonly #routes: JsonCacheRoutes;
  readonly #options: JsonCacheModuleOptions;

  /** Called by Nest. */
  constructor(
    caches: JsonCaches,
    routes: JsonCacheRoutes,
    options: JsonCacheModuleOptions,
    name?: string,
  ) {
    this.#caches = caches;
    this.#cache = caches.named(name);
    this.#routes = routes;
    this.#options = options;
  }

  /** The current counters. */
  get stats(): RouteCacheStats {
    return { ...this.#cache.stats, private: this.#routes.privateRequests };
  }

  /** True during an outage of the store. */
  get isStoreDown(): boolean {
    return this.#cache.isStoreDown;
  }

  /** Number of times the store emptied its part in this process because the connection that reports changes was lost. */
  get memoryLosses(): number {
    return this.#cache.memoryLosses;
  }

  /**
   * Reads of requests, other than the URL, by the handler of each route, and by the pipes and interceptors after the cache:
   * headers, cookies, the address of the client, and properties that something ahead of the cache has set.
   *
   * @example
   * ```ts
   * cache.reads; // { 'GET /articles (ArticlesController.list)': ['the header accept-language'] }
   * ```
   */
  get reads(): Readonly<Record<string, readonly string[]>> {
    return this.#routes.reads;
  }

  /** Returns one of the `caches` of the module. */
  named(name: string): JsonCacheService {
    return new JsonCacheService(this.#caches, this.#routes, this.#options, name);
  }

  /** The cache without a name and the `caches`, for `prometheusMetrics` and `observeCaches`. */
  get caches(): readonly JsonCache[] {
    return this.#caches.all();
  }

  /** Returns the value kept under `key` by `set` or `wrap`; undefined if it is missing. */
  get<T>(key: string): Promise<T | undefined> {
    return this.#cache.get<T>(valueKey(key));
  }

  /** Returns the values under several keys, each as from `get`. */
  getMany<T>(keys: readonly string[]): Promise<(T | undefined)[]> {
    return this.#cache.getMany<T>(keys.map(valueKey));
  }

  /**
   * Keeps `value` under `key`. Its source may have changed since it was read: `wrap` notices that, `set` cannot.
   *
   * @throws {CacheError} ERR_REDLINE_CACHE_STORE_DOWN, ERR_REDLINE_CACHE_NOT_JSON, ERR_REDLINE_CACHE_OPTION
   */
  set(key: string, value: unknown, options?: SetOptions): Promise<void> {
    return this.#cache.set(valueKey(key), value, options);
  }

  /**
   * Returns the value under `key`, otherwise the result of `produce`, which is kept: one run for simultaneous callers.
   *
   * @throws what `produce` throws; {CacheError} ERR_REDLINE_CACHE_NOT_JSON if it returns `undefined`.
   */
  wrap<T>(key: string, produce: () => T | Promise<T>, options?: WrapOptions): Promise<T> {
    return this.#cache.wrap(valueKey(key), produce, options);
  }

  /**
   * Deletes every response and every value that has one of `tags`, in every process that shares the store. With `soft`, those
   * with `stale` become outdated instead: they are sent within it until a new one is made.
   *
   * @throws {CacheError} ERR_REDLINE_CACHE_STORE_DOWN: once the store is available again, they may be sent until their
   * ttl ends.
   */
  invalidate(tags: string | readonly string[], options?: InvalidateOptions): Promise<void> {
    return this.#cache.invalidate(tags, options);
  }

  /**
   * Deletes the responses of routes to a URL, or to all URLs with a prefix, for every host and caller. It scans all keys of the
   * store, as `clear` does.
   *
   * @example
   * ```ts
   * await cache.purge({ prefix: '/articles/' });
   * ```
   */
  purge(of: PurgeOf): Promise<void> {
    return this.#cache.purge(of);
  }

  /** Deletes all responses and values of this cache. */
  clear(): Promise<void> {
    return this.#cache.clear();
  }

  /**
   * Lets a handler decide about its response to `request`: how long it is valid, 0 to not store it, and further tags.
   * It takes precedence over the policy of the route.
   */
  decide(request: object, decision: CacheDecision): void {
    decide(request, decision);
  }

  /**
   * Deletes one response, and the value under `key`.
   *
   * @param key the URL from its first slash on, with its query string as requested, or the `key` of the route. A URL is
   * deleted for all `hosts` of the module, or for the given one.
   * @throws {CacheError} ERR_REDLINE_CACHE_KEY: a URL without a host, and the module names none.
   * @throws {CacheError} ERR_REDLINE_CACHE_STORE_DOWN: once available again, the store may serve the old response until
   * its ttl ends.
   */
  async delete(key: string, of: string | AnswerOf = {}): Promise<void> {
    const { caller, host, prefix }: AnswerOf = typeof of === 'string' ? { caller: of } : of;
    const keys = keysOf(key, { hosts: this.#hostsOf(key, host), caller, prefix });
    await Promise.all([...keys, valueKey(key)].map((each) => this.#cache.delete(each)));
  }

  onApplicationShutdown(): void {
    for (const cache of this.#caches.all()) cache.close();
  }

  #hostsOf(key: string, host: string | undefined): readonly string[] {
    if (host !== undefined) return [host];
    const { hosts } = this.#options;
    if (!key.startsWith('/') || hosts === 'any') return [''];
    if (hosts !== undefined) return hosts;
    throw new CacheError(
      'ERR_REDLINE_CACHE_KEY',
      `The key "${key}" lacks its host: each host has its own responses. Give delete() the host, or list the hosts of the app in the hosts of JsonCacheModule ('any' if no response depends on the host).`,
    );
  }
}

/* Separate from the keys of routes. */
function valueKey(key: string): string {
  return keyOf('value', key);
}
