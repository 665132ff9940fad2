import { Logger, Module, type DynamicModule, type Provider } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { JsonCache, type JsonCacheOptions } from '@redline/response-cache';
import { cacheToken } from './json-cache-interceptor.ts';
import { JsonCacheRoutes } from './json-cache-routes.ts';
import { JsonCacheService } from './json-cache-service.ts';
import {
  checkTtl,
  refuseUnknown,
  type JsonCacheModuleAsyncOptions,
  type JsonCacheModuleOptions,
} from './options.ts';

/**
 * The cache behind `@JsonCache`. Import it once, in the root module: it is global.
 *
 * The client of a Redis store stays yours: close it in `onApplicationShutdown`, when the server has answered its
 * last request.
 *
 * @example
 * ```ts
 * @Module({ imports: [JsonCacheModule.forRoot({ store: redisStore(client), ttl: 30_000 })] })
 * export class AppModule {}
 * ```
 */
@Module({})
export class JsonCacheModule {
  /** @throws {CacheError} ERR_REDLINE_CACHE_OPTION */
  static forRoot(options: JsonCacheModuleOptions = {}): DynamicModule {
    return defineModule({ provide: cacheToken, useValue: makeCache(options) }, []);
  }

  /**
   * As `forRoot`, with options that are made of other providers.
   *
   * @example
   * ```ts
   * JsonCacheModule.forRootAsync({
   *   imports: [RedisModule],
   *   inject: [Redis],
   *   useFactory: (client: Redis) => ({ store: redisStore(client), ttl: 30_000 }),
   * })
   * ```
   */
  static forRootAsync({
    imports = [],
    inject = [],
    useFactory,
  }: JsonCacheModuleAsyncOptions): DynamicModule {
    const useCacheFactory = async (...dependencies: unknown[]): Promise<JsonCache> =>
      makeCache(await useFactory(...dependencies));
    return defineModule({ provide: cacheToken, inject, useFactory: useCacheFactory }, imports);
  }
}

function defineModule(
  cache: Provider,
  imports: NonNullable<DynamicModule['imports']>,
): DynamicModule {
  return {
    module: JsonCacheModule,
    global: true,
    imports: [DiscoveryModule, ...imports],
    providers: [cache, JsonCacheRoutes, JsonCacheService],
    exports: [cacheToken, JsonCacheRoutes, JsonCacheService],
  };
}

const known = ['store', 'ttl', 'keyPrefix', 'timeoutMs', 'logger'];

function makeCache(given: JsonCacheModuleOptions): JsonCache {
  refuseUnknown('JsonCacheModule', given, known);
  const { ttl, logger = new Logger('JsonCache'), ...options } = given;
  const ttlMs = checkTtl(ttl);
  const cacheOptions: JsonCacheOptions = { ...options, logger };
  return new JsonCache(ttlMs === undefined ? cacheOptions : { ...cacheOptions, ttlMs });
}
