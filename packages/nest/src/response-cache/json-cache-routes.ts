import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import {
  DiscoveryService,
  MetadataScanner,
  ModuleRef,
  type ApplicationConfig,
  type NestContainer,
} from '@nestjs/core';
import { JsonCacheError } from './errors.ts';
import type { JsonCacheInterceptor } from './json-cache-interceptor.ts';
import type { JsonCacheModuleOptions } from './options.ts';
import {
  isRoute,
  jsonCacheMetadata,
  planRoute,
  type Class,
  type Handler,
  type RoutePlan,
} from './route-plan.ts';
import { standInFront, type Interceptors } from './stand-in-front.ts';

export const optionsToken: unique symbol = Symbol('JsonCacheModuleOptions');

interface CachedMethod {
  readonly type: Class;
  readonly handler: Handler;
  readonly methodName: string;
}

/** The plans of all cached routes, made and checked when the app starts. */
@Injectable()
export class JsonCacheRoutes implements OnModuleInit {
  /** Requests that did not use the cache, since their answers are for their callers alone. */
  privateRequests = 0;

  readonly #discovery: DiscoveryService;
  readonly #container: NestContainer | undefined;
  readonly #options: JsonCacheModuleOptions;
  // By class too: a handler that is inherited is a route of each controller.
  readonly #plans = new Map<Handler, Map<Class, RoutePlan>>();
  readonly #uncached = new WeakSet<Handler>();
  #interceptors = new Map<Class, Interceptors>();

  constructor(
    @Inject(DiscoveryService) discovery: DiscoveryService,
    @Inject(ModuleRef) moduleRef: ModuleRef,
    @Inject(optionsToken) options: JsonCacheModuleOptions,
  ) {
    this.#discovery = discovery;
    this.#options = options;
    // Nest hands its configuration to nobody, and only there are the interceptors of useGlobalInterceptors().
    this.#container = (moduleRef as unknown as { container?: NestContainer }).container;
  }

  /** Called before Nest makes its routes. */
  prepare(interceptor: JsonCacheInterceptor): void {
    const config = this.#config;
    const methods = this.#cachedMethods(this.#discovery.getControllers());
    if (config !== undefined) {
      const { runOnHits = [] } = this.#options;
      const controllers = new Set(methods.map(({ type }) => type));
      this.#interceptors = standInFront(controllers, config, interceptor, runOnHits);
    }
    for (const { type, handler, methodName } of methods) {
      if (isRoute(handler)) this.#plan(type, handler, methodName);
    }
    const inside = new Set([...this.#interceptors.values()].flatMap((each) => each.inside));
    if (inside.size === 0) return;
    new Logger('JsonCache').log(
      `What these do to a result is kept with it, so they do not run on hits: ${[...inside].join(', ')}. Name those that only watch in runOnHits.`,
    );
  }

  /** @throws {JsonCacheError} ERR_REDLINE_CACHE_PLACE, ERR_REDLINE_CACHE_MODULE */
  onModuleInit(): void {
    const misplaced = [
      ...this.#cachedMethods(this.#discovery.getProviders()),
      ...this.#cachedMethods(this.#discovery.getControllers()).filter(
        ({ handler }) => !isRoute(handler),
      ),
    ];
    for (const { type, methodName } of misplaced) {
      throw new JsonCacheError(
        'ERR_REDLINE_CACHE_PLACE',
        `@JsonCache is on ${type.name}.${methodName}, which is not an HTTP route: it caches GET routes of controllers, not resolvers, gateways, message handlers or services.`,
      );
    }
  }

  /** Undefined for a handler without `@JsonCache`. */
  planOf(controller: Class, handler: Handler): RoutePlan | undefined {
    const plan = this.#plans.get(handler)?.get(controller);
    if (plan !== undefined || this.#uncached.has(handler)) return plan;
    if (Reflect.hasMetadata(jsonCacheMetadata, handler))
      return this.#plan(controller, handler, handler.name);
    this.#uncached.add(handler);
    return undefined;
  }

  get #config(): ApplicationConfig | undefined {
    return this.#container?.applicationConfig;
  }

  #cachedMethods(wrappers: ReturnType<DiscoveryService['getControllers']>): CachedMethod[] {
    const scanner = new MetadataScanner();
    return wrappers.flatMap(({ metatype }) => {
      const prototype = typeof metatype === 'function' ? metatype.prototype : undefined;
      if (typeof prototype !== 'object' || prototype === null) return [];
      return scanner
        .getAllMethodNames(prototype)
        .filter((methodName) => Reflect.hasMetadata(jsonCacheMetadata, prototype[methodName]))
        .map((methodName) => ({
          type: metatype as Class,
          handler: prototype[methodName] as Handler,
          methodName,
        }));
    });
  }

  #plan(controller: Class, handler: Handler, methodName: string): RoutePlan {
    const isInFront = this.#interceptors.get(controller)?.isInFront ?? false;
    const plan = planRoute(controller, handler, methodName, this.#options, this.#config, isInFront);
    if (plan.obstacle !== undefined) {
      new Logger('JsonCache').warn(`@JsonCache does nothing on ${plan.name}: ${plan.obstacle}.`);
    }
    const plans = this.#plans.get(handler) ?? new Map<Class, RoutePlan>();
    this.#plans.set(handler, plans.set(controller, plan));
    return plan;
  }
}
