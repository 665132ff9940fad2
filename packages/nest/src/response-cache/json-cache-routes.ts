import {
  Inject,
  Injectable,
  Logger,
  type NestInterceptor,
  type OnModuleInit,
} from '@nestjs/common';
import {
  DiscoveryService,
  MetadataScanner,
  ModuleRef,
  type ApplicationConfig,
  type NestContainer,
} from '@nestjs/core';
import { refuseGuards, requireTags } from '@redline/response-cache/route';
import type { JsonCacheModuleOptions, RouteCachePolicy } from './options.ts';
import { JsonCacheError } from './errors.ts';
import { JsonCaches } from './json-caches.ts';
import {
  handlerMetadata,
  isGetRoute,
  isRoute,
  jsonCacheMetadata,
  planRoute,
  type CachedMethod,
  type Class,
  type Handler,
  type RoutePlan,
} from './route-plan.ts';
import { insertInterceptor, type Interceptors } from './insert-interceptor.ts';

export const optionsToken: unique symbol = Symbol('JsonCacheModuleOptions');

/** The plans of all cached routes, made and checked when the app starts. */
@Injectable()
export class JsonCacheRoutes implements OnModuleInit {
  /** Number of requests that did not use the cache, because their responses are for their callers alone. */
  privateRequests = 0;

  readonly #discovery: DiscoveryService;
  readonly #container: NestContainer | undefined;
  readonly #options: JsonCacheModuleOptions;
  readonly #caches: JsonCaches;
  // By class too: an inherited handler is a route of each controller.
  readonly #plans = new Map<Handler, Map<Class, RoutePlan>>();
  readonly #uncached = new WeakSet<Handler>();
  #interceptors = new Map<Class, Interceptors>();

  constructor(
    @Inject(DiscoveryService) discovery: DiscoveryService,
    @Inject(ModuleRef) moduleRef: ModuleRef,
    @Inject(optionsToken) options: JsonCacheModuleOptions,
    @Inject(JsonCaches) caches: JsonCaches,
  ) {
    this.#caches = caches;
    this.#discovery = discovery;
    this.#options = options;
    // Nest does not expose its configuration, which alone has the interceptors of useGlobalInterceptors().
    this.#container = (moduleRef as unknown as { container?: NestContainer }).container;
  }

  /** Called before Nest creates its routes. */
  prepare(interceptor: NestInterceptor): void {
    const config = this.#config;
    const methods = this.#cachedMethods(this.#discovery.getControllers());
    if (config !== undefined) {
      const { runOnHits = [] } = this.#options;
      const { everyRoute } = this.#options;
      const controllers = new Map(
        methods.map(({ type }) => {
          const ofClass: unknown = Reflect.getMetadata(jsonCacheMetadata, type);
          const isWhole = ofClass ? true : ofClass !== false && everyRoute !== undefined;
          return [type, { isWhole }];
        }),
      );
      this.#interceptors = insertInterceptor(controllers, config, interceptor, runOnHits);
      this.#makeKnown(interceptor, controllers);
    }
    for (const method of methods) if (isRoute(method.handler)) this.#plan(method);
    const inside = new Set([...this.#interceptors.values()].flatMap((each) => each.inside));
    if (inside.size === 0) return;
    new Logger('JsonCache').log(
      `Their effect on a result is cached with it, so they do not run on hits: ${[...inside].join(', ')}. List those that only observe in runOnHits.`,
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
    for (const { metatype } of this.#discovery.getProviders()) {
      if (typeof metatype === 'function' && Reflect.hasMetadata(jsonCacheMetadata, metatype))
        misplaced.push({ type: metatype as Class, methodName: '(class)' } as CachedMethod);
    }
    for (const { metatype } of this.#discovery.getControllers()) {
      if (typeof metatype === 'function' && this.#isCachedInVain(metatype)) {
        throw new JsonCacheError(
          'ERR_REDLINE_CACHE_PLACE',
          `@JsonCache is on ${metatype.name}, which has no GET route: it caches GET routes of controllers, not message handlers.`,
        );
      }
    }
    for (const { type, methodName } of misplaced) {
      throw new JsonCacheError(
        'ERR_REDLINE_CACHE_PLACE',
        `@JsonCache is on ${type.name}.${methodName}, which is not an HTTP route: it caches GET routes of controllers, not resolvers, gateways, message handlers or services.`,
      );
    }
  }

  /** True if the hits of a route are to be served above its handler. */
  get haveEarly(): boolean {
    return [...this.#plans.values()].some((plans) =>
      [...plans.values()].some(({ at }) => at !== 'handler'),
    );
  }

  /** The reads of requests by the handlers so far, by the name of the route. */
  get reads(): Readonly<Record<string, readonly string[]>> {
    const plans = [...this.#plans.values()].flatMap((each) => [...each.values()]);
    return Object.fromEntries(plans.map(({ name, reads }) => [name, [...reads].toSorted()]));
  }

  /** Returns the route of a handler, if it is only one route: several controllers may inherit a method. */
  onlyPlanOf(handler: Handler): RoutePlan | 'several' | undefined {
    const plans = this.#plans.get(handler);
    if (plans === undefined) return undefined;
    return plans.size === 1 ? plans.values().next().value : 'several';
  }

  /** Returns undefined for a handler without `@JsonCache`. */
  planOf(controller: Class, handler: Handler): RoutePlan | undefined {
    const plan = this.#plans.get(handler)?.get(controller);
    if (plan !== undefined || this.#uncached.has(handler)) return plan;
    const policy = this.#policyOf(controller, handler);
    if (policy !== undefined)
      return this.#plan({ type: controller, handler, methodName: handler.name, policy });
    this.#uncached.add(handler);
    return undefined;
  }

  /* Nest looks for an interceptor in the module of the controller, which has only those that decorators name. */
  #makeKnown(interceptor: NestInterceptor, controllers: ReadonlyMap<Class, unknown>): void {
    const own = this.#discovery.getProviders().find(({ instance }) => instance === interceptor);
    for (const { metatype, host } of this.#discovery.getControllers()) {
      const injectables = controllers.has(metatype as Class) ? host?.injectables : undefined;
      const type = interceptor.constructor;
      if (own !== undefined && injectables?.has(type) === false) injectables.set(type, own);
    }
  }

  #isCachedInVain(controller: Function): boolean {
    const prototype: object = controller.prototype;
    const handlers = new MetadataScanner()
      .getAllMethodNames(prototype)
      .map((name) => (prototype as Record<string, Handler>)[name]!);
    return (
      Boolean(Reflect.getOwnMetadata(jsonCacheMetadata, controller)) && !handlers.some(isGetRoute)
    );
  }

  get #config(): ApplicationConfig | undefined {
    return this.#container?.applicationConfig;
  }

  #cachedMethods(wrappers: ReturnType<DiscoveryService['getControllers']>): CachedMethod[] {
    const scanner = new MetadataScanner();
    return wrappers.flatMap(({ metatype }) => {
      const prototype = typeof metatype === 'function' ? metatype.prototype : undefined;
      if (typeof prototype !== 'object' || prototype === null) return [];
      return scanner.getAllMethodNames(prototype).flatMap((methodName) => {
        const [type, handler] = [metatype as Class, prototype[methodName] as Handler];
        const policy = this.#policyOf(type, handler);
        return policy === undefined ? [] : [{ type, handler, methodName, policy }];
      });
    });
  }

  /** Returns the policy of a handler: its own, or, for a GET route, that of its controller or of the app. */
  #policyOf(controller: Class, handler: Handler): RouteCachePolicy | undefined {
    const own: RouteCachePolicy | false | undefined = Reflect.getMetadata(
      jsonCacheMetadata,
      handler,
    );
    if (own !== undefined) return own || undefined;
    if (!isGetRoute(handler)) return undefined;
    const ofClass: typeof own = Reflect.getMetadata(jsonCacheMetadata, controller);
    return (ofClass ?? this.#options.everyRoute) || undefined;
  }

  #plan(method: CachedMethod): RoutePlan {
    const { type, handler, policy } = method;
    const isInFront = this.#interceptors.get(type)?.isInFront ?? false;
    const cache = this.#caches.named(policy.cache);
    const app = { options: this.#options, config: this.#config };
    const plan = planRoute(method, cache, app, isInFront);
    requireTags(plan);
    refuseGuards(plan, plan.skippedGuards);
    if (plan.at !== 'handler') Reflect.defineMetadata(handlerMetadata, handler, handler);
    if (plan.obstacle !== undefined) {
      new Logger('JsonCache').warn(`@JsonCache does nothing on ${plan.name}: ${plan.obstacle}.`);
    }
    const plans = this.#plans.get(handler) ?? new Map<Class, RoutePlan>();
    this.#plans.set(handler, plans.set(type, plan));
    return plan;
  }
}
