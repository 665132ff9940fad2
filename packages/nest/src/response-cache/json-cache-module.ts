import {
  Inject,
  Module,
  type DynamicModule,
  type NestModule,
  type OnApplicationBootstrap,
  type Provider,
} from '@nestjs/common';
import { DiscoveryModule, HttpAdapterHost, ModulesContainer } from '@nestjs/core';
import { CacheError } from '@redline/response-cache';
import { checkAsyncOptions, checkOptions } from './check-options.ts';
import { EarlyRoutes } from './early-routes.ts';
import type {
  JsonCacheModuleAsyncOptions,
  JsonCacheModuleOptions,
  JsonCacheOptionsFactory,
} from './options.ts';
import { JsonCacheError } from './errors.ts';
import { JsonCacheInterceptor } from './json-cache-interceptor.ts';
import { JsonCacheRoutes, optionsToken } from './json-cache-routes.ts';
import { JsonCacheService } from './json-cache-service.ts';
import { JsonCaches } from './json-caches.ts';

/**
 * Provides the cache of `@JsonCache`. Import it once, in the root module: it is global. Each app has a cache of its own.
 *
 * You own the client of a Redis store: close it in `onApplicationShutdown`, when the server has sent its last response.
 *
 * @throws {JsonCacheError} ERR_REDLINE_CACHE_MODULE: it is imported twice.
 * @example
 * ```ts
 * @Module({ imports: [JsonCacheModule.forRoot({ store: redisStore(client), ttl: 30_000 })] })
 * export class AppModule {}
 * ```
 */
@Module({})
export class JsonCacheModule implements NestModule, OnApplicationBootstrap {
  readonly #routes: JsonCacheRoutes;
  readonly #interceptor: JsonCacheInterceptor;
  readonly #host: HttpAdapterHost;
  #early: EarlyRoutes | undefined;

  constructor(
    @Inject(JsonCacheRoutes) routes: JsonCacheRoutes,
    @Inject(JsonCacheInterceptor) interceptor: JsonCacheInterceptor,
    @Inject(ModulesContainer) modules: ModulesContainer,
    @Inject(HttpAdapterHost) host: HttpAdapterHost,
  ) {
    const own = [...modules.values()].filter(({ metatype }) => metatype === JsonCacheModule);
    if (own.length > 1) {
      throw new JsonCacheError(
        'ERR_REDLINE_CACHE_MODULE',
        'JsonCacheModule is imported more than once, which would create separate caches: import it in the root module only.',
      );
    }
    this.#routes = routes;
    this.#interceptor = interceptor;
    this.#host = host;
  }

  /** @throws {CacheError} ERR_REDLINE_CACHE_OPTION */
  static forRoot(options: JsonCacheModuleOptions = {}): DynamicModule {
    checkOptions(options);
    return defineModule([{ provide: optionsToken, useValue: options }], []);
  }

  /**
   * Same as `forRoot`, with options from other providers.
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
  static forRootAsync(options: JsonCacheModuleAsyncOptions): DynamicModule {
    return defineModule(optionsProviders(options), options.imports ?? []);
  }

  // Nest collects the middleware of its modules just before it creates the routes.
  configure(): void {
    this.#routes.prepare(this.#interceptor);
    if (!this.#routes.haveEarly) return;
    this.#early = new EarlyRoutes(this.#routes, this.#host.httpAdapter);
    this.#early.attach();
  }

  onApplicationBootstrap(): void {
    this.#early?.start();
  }
}

function optionsProviders(given: JsonCacheModuleAsyncOptions): Provider[] {
  checkAsyncOptions(given);
  const { inject = [], useFactory, useClass, useExisting } = given;
  if (useFactory !== undefined) return [{ provide: optionsToken, inject, useFactory }];
  const factory = useExisting ?? useClass;
  if (factory === undefined) {
    throw new CacheError(
      'ERR_REDLINE_CACHE_OPTION',
      'JsonCacheModule.forRootAsync needs useFactory, useClass or useExisting.',
    );
  }
  const options: Provider = {
    provide: optionsToken,
    inject: [factory],
    useFactory: (made: JsonCacheOptionsFactory) => made.createJsonCacheOptions(),
  };
  return useExisting === undefined ? [factory, options] : [options];
}

function defineModule(
  options: Provider[],
  imports: NonNullable<DynamicModule['imports']>,
): DynamicModule {
  return {
    module: JsonCacheModule,
    global: true,
    imports: [DiscoveryModule, ...imports],
    providers: [
      ...options,
      // Created for each app: a module's options are one object for all apps of the process.
      { provide: JsonCaches, inject: [optionsToken], useFactory: makeCaches },
      JsonCacheInterceptor,
      JsonCacheRoutes,
      {
        provide: JsonCacheService,
        inject: [JsonCaches, JsonCacheRoutes, optionsToken],
        useFactory: makeService,
      },
    ],
    exports: [JsonCaches, JsonCacheRoutes, JsonCacheService],
  };
}

function makeCaches(options: JsonCacheModuleOptions): JsonCaches {
  checkOptions(options);
  return new JsonCaches(options);
}

function makeService(
  caches: JsonCaches,
  routes: JsonCacheRoutes,
  options: JsonCacheModuleOptions,
): JsonCacheService {
  return new JsonCacheService(caches, routes, options);
}
