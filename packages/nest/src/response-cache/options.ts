import type { FactoryProvider, ModuleMetadata, NestInterceptor, Type } from '@nestjs/common';
import {
  CacheError,
  type CacheLogger,
  type CachePolicy,
  type CacheRequest,
  type JsonStore,
  type RouteDefaults,
} from '@redline/response-cache';
import { aText, checkPolicy as checkCachePolicy } from '@redline/response-cache/route';
import { notAnObject, unknownOption } from '../unknown-option.ts';

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

export interface JsonCacheModuleOptions extends RouteDefaults {
  /**
   * Store of the responses: `memoryStore()`, `redisStore(client)`, your own `JsonStore`, or a function that creates
   * one for each app.
   * @default memoryStore()
   */
  store?: JsonStore | (() => JsonStore);
  /**
   * Lifetime of a response in milliseconds, unless the route sets it.
   * @default 5_000
   */
  ttl?: number;
  /**
   * Prefix of every key, for instance the version of the app. (The keys of `redisStore` have the name of the app.)
   * @default ''
   */
  keyPrefix?: string;
  /**
   * Time limit of a call to the store, in milliseconds. After that the store counts as down, and handlers run until it
   * responds again.
   * @default 250
   */
  timeoutMs?: number;
  /**
   * Logger for outages of the store; `false` disables it.
   * @default Nest's Logger, with the context JsonCache
   */
  logger?: CacheLogger | false;
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
   * The policy of every GET route of the app without its own; `@JsonCache(false)` excludes a route.
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
   * One of the `caches` of the module.
   * @default the one without a name
   */
  cache?: string;
}

const ownPolicyOptions: Readonly<
  Record<Exclude<keyof RouteCachePolicy, keyof CachePolicy<CacheRequest>>, typeof aText>
> = { cache: aText };

/** @throws {CacheError} ERR_REDLINE_CACHE_OPTION */
export function refuseUnknown<Options extends object>(
  of: string,
  options: Options,
  known: Readonly<Record<keyof Options, true>>,
): void {
  const message = notAnObject(of, options) ?? unknownOption(of, options, known);
  if (message !== undefined) throw new CacheError('ERR_REDLINE_CACHE_OPTION', message);
}

/** @throws {CacheError} ERR_REDLINE_CACHE_OPTION */
export function checkPolicy(of: string, policy: RouteCachePolicy<any>): void {
  checkCachePolicy(of, policy, ownPolicyOptions);
}
