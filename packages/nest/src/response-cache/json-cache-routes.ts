import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { DiscoveryService, MetadataScanner, ModuleRef, type ApplicationConfig } from '@nestjs/core';
import {
  jsonCacheMetadata,
  planRoute,
  type Class,
  type Handler,
  type RoutePlan,
} from './route-plan.ts';

/** The plans of all cached routes, made and checked when the app starts. */
@Injectable()
export class JsonCacheRoutes implements OnApplicationBootstrap {
  readonly #discovery: DiscoveryService;
  readonly #config: ApplicationConfig | undefined;
  // By class too: a handler that is inherited is a route of each controller.
  readonly #plans = new Map<Handler, Map<Class, RoutePlan>>();

  constructor(
    @Inject(DiscoveryService) discovery: DiscoveryService,
    @Inject(ModuleRef) moduleRef: ModuleRef,
  ) {
    this.#discovery = discovery;
    // Nest hands its configuration to nobody, and only there are the interceptors of useGlobalInterceptors().
    this.#config = (
      moduleRef as unknown as { container?: { applicationConfig?: ApplicationConfig } }
    ).container?.applicationConfig;
  }

  onApplicationBootstrap(): void {
    const scanner = new MetadataScanner();
    for (const { metatype } of this.#discovery.getControllers()) {
      if (typeof metatype !== 'function') continue;
      const { prototype } = metatype;
      for (const methodName of scanner.getAllMethodNames(prototype)) {
        const handler: Handler = prototype[methodName];
        if (Reflect.hasMetadata(jsonCacheMetadata, handler))
          this.#plan(metatype as Class, handler, methodName);
      }
    }
  }

  planOf(controller: Class, handler: Handler): RoutePlan {
    // Not there yet for a module that was loaded lazily.
    return (
      this.#plans.get(handler)?.get(controller) ?? this.#plan(controller, handler, handler.name)
    );
  }

  #plan(controller: Class, handler: Handler, methodName: string): RoutePlan {
    const plan = planRoute(controller, handler, methodName, this.#config);
    if (plan.obstacle !== undefined) {
      new Logger('JsonCache').warn(`@JsonCache does nothing on ${plan.name}: ${plan.obstacle}.`);
    }
    const plans = this.#plans.get(handler) ?? new Map<Class, RoutePlan>();
    this.#plans.set(handler, plans.set(controller, plan));
    return plan;
  }
}
