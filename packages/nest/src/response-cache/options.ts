import type { IncomingHttpHeaders } from 'node:http';
import type { FactoryProvider, ModuleMetadata, NestInterceptor, Type } from '@nestjs/common';
import {
  CacheError,
  type CacheLogger,
  type CachePolicy,
  type JsonStore,
} from '@redline/response-cache';

/** What an HTTP framework's request must have for the cache to tell requests and callers apart. */
export interface CacheRequest {
  readonly method: string;
  readonly originalUrl: string;
  readonly headers: IncomingHttpHeaders;
  /** What guards and Passport put there once they know the caller. */
  readonly user?: unknown;
}

/**
 * What a `Cookie` header means to a route without `identify`: `'private'`, that the request does not use the cache, except
 * where all its cookies are those of well-known analytics; `'ignore'`, nothing.
 */
export type Cookies = 'ignore' | 'private';

/** What a response may say of the cache. */
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
   * Where answers are kept: `memoryStore()`, `redisStore(client)`, a `JsonStore` of your own, or a function that makes
   * one for each app.
   * @default memoryStore()
   */
  store?: JsonStore | (() => JsonStore);
  /**
   * How long an answer is good for, in milliseconds, where the route does not say.
   * @default 5_000
   */
  ttl?: number;
  /**
   * Put before every key, for instance the version of the app. (The keys of `redisStore` have the name of the app.)
   * @default ''
   */
  keyPrefix?: string;
  /**
   * How long the store may take to answer, in milliseconds. After that it counts as down, and handlers run until
   * it answers again.
   * @default 250
   */
  timeoutMs?: number;
  /**
   * Where outages of the store are reported; false for nowhere.
   * @default Nest's Logger, with the context JsonCache
   */
  logger?: CacheLogger | false;
  /**
   * The hosts that requests name. With a list, a request for another host does not use the cache; with `'any'`, all of
   * them share their answers, so no answer may depend on the host.
   * @default each host has answers of its own
   */
  hosts?: 'any' | readonly string[];
  /**
   * For routes that do not say.
   * @default 'private'
   */
  cookies?: Cookies;
  /**
   * What tells one answer from another, on routes without a `key`; undefined where that request does not use the cache.
   * @default host and URL
   */
  trackBy?: (request: any) => string | undefined;
  /**
   * Interceptors of the app and of controllers that run on every request, hits among them, and leave the result as it is,
   * which is JSON text to them. They must stand before all others. Every other interceptor runs inside the cache.
   * @default []
   */
  runOnHits?: ReadonlyArray<Type<NestInterceptor>>;
  /**
   * Headers that cached routes are given: `x-cache` says `HIT`, `STALE`, `MISS`, or `BYPASS` where the cache was not used;
   * `age` how old the answer is, in seconds; `etag` has requests with `If-None-Match` answered by a 304.
   * @default []
   */
  headers?: readonly CacheHeader[];
  /**
   * The policy of every GET route of the app that has none; `@JsonCache(false)` keeps one out.
   * @default routes and controllers with `@JsonCache` alone
   */
  everyRoute?: RouteCachePolicy<any>;
  /** More caches, by the names that the `cache` of a policy and `JsonCacheService.named()` take. */
  caches?: Readonly<Record<string, NamedCacheOptions>>;
}

/** Makes the options, as a class. */
export interface JsonCacheOptionsFactory {
  createJsonCacheOptions(): JsonCacheModuleOptions | Promise<JsonCacheModuleOptions>;
}

export interface JsonCacheModuleAsyncOptions extends Pick<ModuleMetadata, 'imports'> {
  inject?: FactoryProvider['inject'];
  useFactory?: (...dependencies: any[]) => JsonCacheModuleOptions | Promise<JsonCacheModuleOptions>;
  /** A class that makes the options, of which the module has an instance of its own. */
  useClass?: Type<JsonCacheOptionsFactory>;
  /** A provider that makes the options. */
  useExisting?: Type<JsonCacheOptionsFactory>;
}

/** The policy of a route. */
export interface RouteCachePolicy<Request = CacheRequest> extends CachePolicy<Request> {
  /**
   * What tells one answer from another, when that is not host and URL. Two routes with the same key share their answers.
   * @default the host and the URL as they were requested, with the query string
   */
  key?: string | ((request: Request) => string);
  /**
   * The parameters of the query string that count; the others, and their order, do not.
   * @default all of them, as they were written
   */
  query?: readonly string[];
  /** @default the `cookies` of the module */
  cookies?: Cookies;
  /**
   * Which of the `caches` of the module.
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
 * A misspelt option would be a default that nobody asked for.
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
