import { Logger, type HttpServer } from '@nestjs/common';
import type { CacheRequest } from '@redline/response-cache';
import {
  EarlyAnswers,
  engineOffers,
  fastifyResponses,
  hookObstacle,
  hooksOf,
  middlewareBefore,
  passesAll,
  placeLine,
  refuseGuards,
  type Placement,
  type ResponsePort,
} from '@redline/response-cache/route';
import type { JsonCacheRoutes } from './json-cache-routes.ts';
import { nestExpressResponses } from './nest-express-responses.ts';
import { handlerMetadata, type Handler, type RoutePlan } from './route-plan.ts';

type Register = (...args: unknown[]) => unknown;
type Hook = (request: CacheRequest, response: unknown, next: (error?: Error) => void) => void;
type Adapter = HttpServer & { get: Register; all: Register };

/** The part of Fastify that is used; its package is not installed in an app on Express. */
interface Fastify {
  addHook(name: 'onRoute', hook: (this: object, route: FastifyRoute) => void): unknown;
  addHook(name: 'onReady', hook: () => Promise<void>): unknown;
}

interface FastifyRoute {
  readonly method: string | readonly string[];
  onRequest?: unknown;
}

/** A route as it was registered, with the hook that serves its hits. */
interface Placed {
  readonly plan: RoutePlan;
  readonly early: EarlyAnswers<unknown>;
  readonly hook: Hook;
  /** Undefined on Express. */
  readonly fastify: { readonly instance: object; readonly route: FastifyRoute } | undefined;
}

/** Serves hits of routes with `at` above the handler: each gets its hook when Nest registers it. */
export class EarlyRoutes {
  readonly #routes: JsonCacheRoutes;
  readonly #adapter: Adapter;
  readonly #placed: Placed[] = [];
  /* The route that Nest is registering: Fastify reports it during that call. */
  #registering: RoutePlan | undefined;

  constructor(routes: JsonCacheRoutes, adapter: HttpServer) {
    this.#routes = routes;
    this.#adapter = adapter as Adapter;
  }

  /** Called before Nest creates its routes. */
  attach(): void {
    const adapter = this.#adapter;
    for (const method of ['get', 'all'] as const) {
      const register = adapter[method].bind(adapter) as Register;
      // An own method takes precedence over that of the class; Nest looks it up for each route.
      adapter[method] = ((...args: unknown[]) => this.#register(register, args)) as never;
    }
    if (!this.#isFastify) return;
    const fastify = adapter.getInstance() as Fastify;
    const onRoute = (instance: object, route: FastifyRoute): void => {
      if (this.#registering !== undefined) this.#addHook(instance, route, this.#registering);
    };
    fastify.addHook('onRoute', function (route) {
      onRoute(this, route);
    });
    // Not earlier, because plugins add hooks until then.
    fastify.addHook('onReady', async () => this.#placeAll());
  }

  /** Called once all middleware is registered: on Fastify, plugins follow even later. */
  start(): void {
    if (!this.#isFastify) this.#placeAll();
  }

  get #isFastify(): boolean {
    return this.#adapter.getType?.() === 'fastify';
  }

  #register(register: Register, args: unknown[]): unknown {
    const target = args.at(-1);
    const handler: Handler | undefined =
      typeof target === 'function' ? Reflect.getMetadata(handlerMetadata, target) : undefined;
    const plan = handler && this.#planOf(handler);
    if (plan === undefined) return register(...args);
    if (this.#isFastify) {
      this.#registering = plan;
      try {
        return register(...args);
      } finally {
        this.#registering = undefined;
      }
    }
    const placed = this.#place(plan, nestExpressResponses as ResponsePort<unknown>, undefined);
    return register(...args.slice(0, -1), placed.hook, target);
  }

  /** Returns undefined if the handler has to serve the hits of the route, and logs that. */
  #planOf(handler: Handler): RoutePlan | undefined {
    const plan = this.#routes.onlyPlanOf(handler);
    if (plan === undefined || plan === 'several') {
      new Logger('JsonCache').log(
        `Hits of ${handler.name}() are answered in place of the handler: several controllers have it.`,
      );
      return undefined;
    }
    const isExpressVersion = !this.#isFastify && plan.version !== '';
    const reason = isExpressVersion ? 'its version is not in the URL' : plan.noHook;
    if (plan.obstacle !== undefined) return undefined;
    if (reason === undefined) return plan;
    say(plan, { at: 'handler', reason });
    return undefined;
  }

  #addHook(instance: object, route: FastifyRoute, plan: RoutePlan): void {
    const responses = fastifyResponses as ResponsePort<unknown>;
    const { hook } = this.#place(plan, responses, { instance, route });
    route.onRequest = [...[route.onRequest ?? []].flat(), hook];
  }

  #place(plan: RoutePlan, responses: ResponsePort<unknown>, fastify: Placed['fastify']): Placed {
    const early = new EarlyAnswers<unknown>(plan, responses, (response) => {
      responses.setStatus(response, plan.status);
      for (const { name, value } of plan.ownHeaders)
        responses.setHeader(response, name, typeof value === 'function' ? value() : value);
    });
    const hook: Hook = (request, response, next) => early.answer(request, response, next);
    const placed = { plan, early, hook, fastify };
    this.#placed.push(placed);
    return placed;
  }

  /** @throws {CacheError} ERR_REDLINE_CACHE_GUARD */
  #placeAll(): void {
    for (const placed of this.#placed) {
      const placement = this.#placementOf(placed);
      placed.early.isOff = placement.at === 'handler';
      // Fastify itself adds the HEAD route of a GET route.
      if (placed.fastify?.route.method !== 'HEAD') say(placed.plan, placement);
    }
  }

  #placementOf({ plan, early, hook, fastify }: Placed): Placement {
    const { between, around } = fastify
      ? (hooksOf(fastify.instance, fastify.route, hook, this.#isHarmless) ?? {})
      : {
          between: [],
          around: middlewareBefore(this.#adapter.getInstance(), hook, this.#isHarmless),
        };
    if (between === undefined)
      return { at: 'handler', reason: 'the hooks of this Fastify cannot be read' };
    refuseGuards(plan, between);
    const obstacle = hookObstacle(plan, [...plan.skippedGuards, ...between]);
    if (obstacle !== undefined) return { at: 'handler', reason: obstacle };
    if (plan.at === 'hook') return { at: 'hook', reason: undefined };
    const server = this.#adapter.getHttpServer() as object;
    const offers = engineOffers(
      plan,
      {
        server,
        revalidates: fastify ? undefined : nestExpressResponses.revalidates,
        warn: (line) => new Logger('JsonCache').warn(line),
      },
      around ?? { deciding: ['its router'], logs: false },
    );
    if (typeof offers === 'string') return { at: 'hook', reason: offers };
    early.offers = offers;
    return { at: 'engine', reason: undefined };
  }

  /**
   * Returns true if a hook or a middleware is Nest's own: its adapters have one for each feature that an app may enable, such
   * as CORS, and it does nothing until then. These functions have no names.
   */
  readonly #isHarmless = (hook: unknown): boolean => {
    const source = String(hook);
    const { onRequestHook, onResponseHook } = this.#adapter as unknown as Record<string, unknown>;
    const calls = [
      ...(/this\.onRequestHook\b/.test(source) ? [onRequestHook] : []),
      ...(/this\.onResponseHook\b/.test(source) ? [onResponseHook] : []),
    ];
    if (calls.length > 0) return calls.every(passes);
    if ((hook as { name?: string }).name === 'runMiddie') return !this.#hasMiddleware;
    return /this\.(?:isShuttingDown|corsHook|securityHook|isRoutableRequestTarget|versionExtractorErrors)\b/.test(
      source,
    );
  };

  get #hasMiddleware(): boolean {
    const fastify: Record<symbol, unknown> = this.#adapter.getInstance();
    const symbol = Object.getOwnPropertySymbols(fastify).find(
      ({ description }) => description === 'fastify-middie-middlewares',
    );
    return symbol === undefined || (fastify[symbol] as unknown[]).length > 0;
  }
}

function passes(hook: unknown): boolean {
  return hook === undefined || (hook as { [passesAll]?: unknown })[passesAll] !== undefined;
}

function say(plan: RoutePlan, placement: Placement): void {
  new Logger('JsonCache').log(placeLine(plan, placement));
}
