import type { IncomingHttpHeaders } from 'node:http';
import type { FactoryProvider, ModuleMetadata, NestInterceptor, Type } from '@nestjs/common';
import {
  CacheError,
  type CacheLogger,
  type CachePolicy,
  type JsonStore,
} from '@redline/response-cache';

/** The parts of a framework's request by which the cache distinguishes requests and callers. */
export interface CacheRequest {
  readonly method: string;
  readonly originalUrl: string;
  readonly headers: IncomingHttpHeaders;
  /** Set by guards and Passport once they know the caller. */
  readonly user?: unknown;
}

/**
 * What a `Cookie` header means to a route without `identify`: with `'private'` the request does not use the cache,
 * unless all its cookies are those of well-known analytics; with `'ignore'` cookies do not matter.
 */
export type Cookies = 'ignore' | 'private';

/** Headers in which a response reports on the cache. */
export type CacheHeader = 'x-cache' | 'age' | 'etag';

/** One of several caches of an app. */
export interface NamedCacheOptions {
  /** @default memoryStore() */
  store?: JsonStore | (() => JsonStore);
  /** @default the `ttl` of the module */
  ttl?: number;
  /** @default the name of the cache and ':' */
  keyPrefix?: string;
  /** @default the `timeoutMs` of the module */
  timeoutMs?: number;
}

export interface JsonCacheModuleOptions {
  /**
   * Where responses are kept: `memoryStore()`, `redisStore(client)`, your own `JsonStore`, or a function that creates
   * one for each app.
   * @default memoryStore()
   */
  store?: JsonStore | (() => JsonStore);
  /**
   * How long a response is valid, in milliseconds, unless the route sets it.
   * @default 5_000
   */
  ttl?: number;
  /**
   * Put before every key, for instance the version of the app. (The keys of `redisStore` have the name of the app.)
   * @default ''
   */
  keyPrefix?: string;
  /**
   * How long the store may take, in milliseconds. After that it counts as down, and handlers run until it responds
   * again.
   * @default 250
   */
  timeoutMs?: number;
  /**
   * Logger for outages of the store; `false` disables it.
   * @default Nest's Logger, with the context JsonCache
   */
  logger?: CacheLogger | false;
  /**
   * The hosts of the app. With a list, a request for another host does not use the cache; with `'any'`, all of them
   * share their responses, so no response may depend on the host.
   * @default each host has its own responses
   */
  hosts?: 'any' | readonly string[];
  /**
   * For routes that do not set it.
   * @default 'private'
   */
  cookies?: Cookies;
  /**
   * The key of routes without one; undefined if the request does not use the cache.
   * @default host and URL
   */
  trackBy?: (request: any) => string | undefined;
  /**
   * Interceptors of the app and of controllers that run on every request, including hits, and do not change the result,
   * which they receive as JSON text. They must come before all others. Every other interceptor runs inside the cache.
   * @default []
   */
  runOnHits?: ReadonlyArray<Type<NestInterceptor>>;
  /**
   * Headers of cached routes: `x-cache` is `HIT`, `STALE`, `MISS`, or `BYPASS` if the cache was not used; `age` is the
   * age of the response in seconds; with `etag`, requests with `If-None-Match` can get a 304.
   * @default []
   */
  headers?: readonly CacheHeader[];
  /**
   * The policy of every GET route of the app that has none; `@JsonCache(false)` excludes one.
   * @default only routes and controllers with `@JsonCache`
   */
  everyRoute?: RouteCachePolicy<any>;
  /** More caches, by the names that the `cache` of a policy and `JsonCacheService.named()` take. */
  caches?: Readonly<Record<string, NamedCacheOptions>>;
}

/** A class that creates the options. */
export interface JsonCacheOptionsFactory {
  createJsonCacheOptions(): JsonCacheModuleOptions | Promise<JsonCacheModuleOptions>;
}

export interface JsonCacheModuleAsyncOptions extends Pick<ModuleMetadata, 'imports'> {
  inject?: FactoryProvider['inject'];
  useFactory?: (...dependencies: any[]) => JsonCacheModuleOptions | Promise<JsonCacheModuleOptions>;
  /** A class that creates the options; the module creates its own instance. */
  useClass?: Type<JsonCacheOptionsFactory>;
  /** A provider that creates the options. */
  useExisting?: Type<JsonCacheOptionsFactory>;
}

/** The policy of a route. */
export interface RouteCachePolicy<Request = CacheRequest> extends CachePolicy<Request> {
  /**
   * The key of a response, if that is not host and URL. Two routes with the same key share their responses.
   * @default the requested host and URL, with the query string
   */
  key?: string | ((request: Request) => string);
  /**
   * The parameters of the query string that count; the others, and their order, do not.
   * @default all of them, in their order
   */
  query?: readonly string[];
  /** @default the `cookies` of the module */
  cookies?: Cookies;
  /**
   * One of the `caches` of the module.
   * @default the one without a name
   */
  cache?: string;
}

const policyOptions: readonly string[] = [
  'ttl',
  'key',
  'identify',
  'vary',
  'query',
  'cookies',
  'stale',
  'early',
  'tags',
  'cache',
];

/**
 * A misspelt option would silently be its default.
 *
 * @throws {CacheError} ERR_REDLINE_CACHE_OPTION
 */
export function refuseUnknown(of: string, options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new CacheError(
    'ERR_REDLINE_CACHE_OPTION',
    `Unknown option "${unknown}" of ${of}. Known options: ${known.join(', ')}.`,
  );
}

/** @throws {CacheError} ERR_REDLINE_CACHE_OPTION */
export function checkPolicy(of: string, policy: RouteCachePolicy<any>): void {
  refuseUnknown(of, policy, policyOptions);
  if (typeof policy.ttl !== 'function') checkTtl(policy.ttl);
  if (policy.stale !== undefined && policy.stale !== 0) checkTtl(policy.stale, 'stale');
}

/** @throws {CacheError} ERR_REDLINE_CACHE_OPTION */
export function checkTtl(ttl: number | undefined, name = 'ttl'): number | undefined {
  if (ttl === undefined || (Number.isSafeInteger(ttl) && ttl > 0)) return ttl;
  throw new CacheError(
    'ERR_REDLINE_CACHE_OPTION',
    `The option ${name} must be a whole number of milliseconds above 0; got ${String(ttl)}.`,
  );
}
