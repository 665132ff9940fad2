import type { IncomingMessage, ServerResponse } from 'node:http';
import { expectRoute } from '../route/reads/ahead.ts';
import { checkPolicy, checkRouteDefaults } from '../route/check-policy.ts';
import { aFunction, checkValues, refuseUnknown } from '../validate.ts';
import { type JsonCache, requireCache } from '../cache/json-cache.ts';
import type { CachePolicy, Place } from '../route/policy.ts';
import { cachedRoute, type RouteDefaults } from '../route/cached-route.ts';
import { CachedExpressRoute, type ExpressResponse } from '../route/express/express-route.ts';
import { placeLine, requireTags } from '../route/hit-placement.ts';

/** The part of an Express request that the middleware uses. */
export interface ExpressCacheRequest extends IncomingMessage {
  originalUrl: string;
  params: any;
  query: any;
}

/** A middleware of Express. */
export type CachedMiddleware<Request> = (
  request: Request,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

export interface ExpressCacheOptions extends RouteDefaults {
  /**
   * Called at the first request of a route that has `at`, with the place that serves its hits, and the reason why that is
   * not an earlier one.
   * @default a line of the cache's logger
   */
  onPlace?: (placed: {
    route: string;
    at: Place;
    reason: string | undefined;
    line: string;
  }) => void;
}

const optionNames: Readonly<Record<keyof ExpressCacheOptions, true>> = {
  hosts: true,
  cookies: true,
  reads: true,
  headers: true,
  compress: true,
  onPlace: true,
};

/**
 * Returns a middleware for one GET route: it serves hits, and keeps what later handlers pass to `response.json()` as the
 * text that is sent. Handlers before it run on every request, handlers after it only on misses.
 *
 * @throws {CacheError} ERR_REDLINE_CACHE_OPTION
 * @example
 * ```ts
 * app.get('/products/:id', cached(cache, { ttl: 60_000 }), async (request, response) => {
 *   response.json(await db.product(request.params.id));
 * });
 * ```
 */
export function cached<Request extends ExpressCacheRequest = ExpressCacheRequest>(
  cache: JsonCache,
  policy: CachePolicy<Request> = {},
  options: ExpressCacheOptions = {},
): CachedMiddleware<Request> {
  requireCache('The first argument of cached()', cache);
  checkPolicy('cached()', policy);
  refuseUnknown('cached()', options, optionNames);
  const { onPlace, ...defaults } = options;
  checkRouteDefaults('cached()', defaults);
  checkValues('cached()', { onPlace }, { onPlace: aFunction('that is given the place') });
  const warn = (line: string): void => cache.logger?.warn(line);
  expectRoute();
  // One middleware may be used in several routes.
  const routes = new Map<string, CachedExpressRoute>();
  const middleware: CachedMiddleware<Request> = (request, response, next) => {
    const name = nameOf(request);
    let route = routes.get(name);
    if (route === undefined) {
      const plan = cachedRoute(name, policy as CachePolicy<any>, { cache, defaults, warn });
      requireTags(plan);
      route = new CachedExpressRoute(plan);
      routes.set(name, route);
      if (policy.at !== undefined) {
        const placement = route.place(request, middleware, warn);
        const line = placeLine(plan, placement);
        if (onPlace === undefined) cache.logger?.log(line);
        else onPlace({ route: name, ...placement, line });
      }
    }
    route.answer(request as never, response as ExpressResponse, next);
  };
  return middleware;
}

function nameOf(request: object): string {
  const { route, baseUrl = '' } = request as { route?: { path: unknown }; baseUrl?: string };
  return `GET ${baseUrl}${String(route?.path ?? '*')}`;
}
