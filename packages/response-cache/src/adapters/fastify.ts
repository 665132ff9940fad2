import type {
  FastifyInstance,
  FastifyPluginAsync,
  FastifyReply,
  FastifyRequest,
  RouteOptions,
} from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { CacheError } from '../errors.ts';
import { type Outcome, Unshared } from '../answer/answer-options.ts';
import { type JsonCache, requireCache } from '../cache/json-cache.ts';
import { refuseUnknown } from '../validate.ts';
import { checkPolicy, checkRouteDefaults } from '../route/check-policy.ts';
import type { CachePolicy } from '../route/policy.ts';
import { answerRoute, madeKeyOf, forgetRefused } from '../route/answer-route.ts';
import {
  answerOptions,
  cachedRoute,
  type CachedApp,
  type CachedRoute,
  type CacheRequest,
  type RouteDefaults,
} from '../route/cached-route.ts';
import { EarlyAnswers } from '../route/early.ts';
import { engineAnswersOf } from '../route/engine-store.ts';
import { hooksOf } from '../route/fastify/fastify-hooks.ts';
import { fastifyResponses } from '../route/fastify/fastify-responses.ts';
import { overrideMethods } from '../route/override-methods.ts';
import {
  engineOffers,
  hookObstacle,
  placeLine,
  refuseGuards,
  requireTags,
  type Placement,
} from '../route/hit-placement.ts';
import { keyOf, requestKey } from '../route/key/request-key.ts';
import { produce } from '../route/run-handler.ts';
import { renewalOf, renewalOptions } from '../route/renewal.ts';
import type { ResponsePort } from '../route/response-port.ts';
import { dress } from '../route/send-kept.ts';

/** The policy of a route, in its `config.cache`. */
export type FastifyCachePolicy = CachePolicy<FastifyRequest & { params: any; query: any }>;

declare module 'fastify' {
  interface FastifyContextConfig {
    cache?: FastifyCachePolicy;
  }
}

export interface FastifyCacheOptions extends RouteDefaults {
  cache: JsonCache;
}

type OnRequest = (
  request: FastifyRequest,
  reply: FastifyReply,
  done: (error?: Error) => void,
) => void;

/** A route as passed to `onRoute`, with the hook that serves its hits early. */
interface Placed {
  readonly instance: FastifyInstance;
  readonly options: RouteOptions;
  readonly route: CachedRoute;
  readonly hook: OnRequest;
  readonly early: EarlyAnswers<FastifyReply>;
}

const responses = fastifyResponses as ResponsePort<unknown> & ResponsePort<FastifyReply>;

const optionNames: Readonly<Record<keyof FastifyCacheOptions, true>> = {
  cache: true,
  hosts: true,
  cookies: true,
  reads: true,
  headers: true,
  compress: true,
};

const plugin: FastifyPluginAsync<FastifyCacheOptions> = async (app, options) => {
  const { cache, ...defaults } = options;
  refuseUnknown('fastifyCache', options, optionNames);
  requireCache('The option cache of fastifyCache', cache);
  checkRouteDefaults('fastifyCache', defaults);
  const log = logOf(app, cache);
  const placed: Placed[] = [];

  app.addHook('onRoute', function (this: FastifyInstance, added) {
    const policy = added.config?.cache;
    if (policy === undefined) return;
    const shared = { cache, defaults, warn: log.warn };
    const route = routeOf(added, policy as CachePolicy<CacheRequest>, shared);
    added.handler = cachedHandler(route, added.handler as Handler) as typeof added.handler;
    if (route.at === 'handler') return;
    const early = new EarlyAnswers<FastifyReply>(route, responses);
    const hook: OnRequest = (request, reply, done) => early.answer(request, reply, done);
    added.onRequest = [...[added.onRequest ?? []].flat(), hook] as typeof added.onRequest;
    placed.push({ instance: this, options: added, route, hook, early });
  });

  // Not earlier, because plugins add hooks until then.
  app.addHook('onReady', async () => {
    for (const each of placed) {
      const placement = place(app, each, log.warn);
      each.early.isOff = placement.at === 'handler';
      // Fastify itself adds the HEAD route of a GET route.
      if (each.options.method !== 'HEAD') log.info(placeLine(each.route, placement));
    }
  });
};

/**
 * Caches the routes whose `config` has a `cache`: the result of the handler is kept as the JSON text that is sent.
 * Register it before the routes.
 *
 * @throws {CacheError} ERR_REDLINE_CACHE_OPTION, ERR_REDLINE_CACHE_GUARD
 * @example
 * ```ts
 * await app.register(fastifyCache, { cache });
 * app.get('/products/:id', { config: { cache: { ttl: 60_000, at: 'hook' } } }, ({ params }) => db.product(params.id));
 * ```
 */
export const fastifyCache: FastifyPluginAsync<FastifyCacheOptions> = fastifyPlugin(plugin, {
  fastify: '5.x',
  name: '@redline/response-cache',
});
export default fastifyCache;

interface Log {
  info(line: string): void;
  warn(line: string): void;
}

/* Without a configured logger, Fastify has a silent one. */
function logOf(app: FastifyInstance, { logger }: JsonCache): Log {
  const isFastifys = isEnabled(app, 'warn') !== undefined;
  return {
    info: (line) => (isFastifys ? app.log.info(line) : logger?.log(line)),
    warn: (line) => (isFastifys ? app.log.warn(line) : logger?.warn(line)),
  };
}

function routeOf(
  { method, url, constraints }: RouteOptions,
  policy: CachePolicy<CacheRequest>,
  app: CachedApp,
): CachedRoute {
  const name = `${[method].flat().join(', ')} ${url}`;
  checkPolicy(name, policy);
  if (![method].flat().some((each) => each === 'GET' || each === 'HEAD')) {
    throw new CacheError(
      'ERR_REDLINE_CACHE_OPTION',
      `${name} has a cache in its config, but only responses to GET and HEAD are cached: remove it.`,
    );
  }
  const route = cachedRoute(name, policy, app);
  requireTags(route);
  // Constraints allow several routes for one URL.
  const version = constraints === undefined ? [] : Object.entries(constraints).flat();
  return version.length === 0 ? route : { ...route, version: keyOf(...version.map(String)) };
}

function place(
  app: FastifyInstance,
  { instance, options, route, hook, early }: Placed,
  warn: (line: string) => void,
): Placement {
  const hooks = hooksOf(instance, options, hook);
  if (hooks === undefined)
    return { at: 'handler', reason: 'the hooks of this Fastify cannot be read' };
  refuseGuards(route, hooks.between);
  const { headers } = (options.schema ?? {}) as { headers?: unknown };
  const obstacle =
    headers === undefined
      ? hookObstacle(route, hooks.between)
      : 'its schema validates the headers of each request';
  if (obstacle !== undefined) return { at: 'handler', reason: obstacle };
  if (route.at === 'hook') return { at: 'hook', reason: undefined };
  const offers = logsItself(app)
    ? 'Fastify writes a line for each request'
    : engineOffers(
        route,
        { server: app.server, revalidates: responses.revalidates, warn },
        hooks.around,
      );
  if (typeof offers === 'string') return { at: 'hook', reason: offers };
  early.offers = offers;
  return { at: 'engine', reason: undefined };
}

/* False if the engine writes the log lines of its responses. */
function logsItself(app: FastifyInstance): boolean {
  if (engineAnswersOf(app.server)?.lines !== undefined) return false;
  return isEnabled(app, 'info') === true && app.initialConfig.disableRequestLogging !== true;
}

/** Returns true if a level of the logger is enabled; undefined without a configured logger. */
function isEnabled({ log }: FastifyInstance, level: string): boolean | undefined {
  return (log as { isLevelEnabled?(level: string): boolean }).isLevelEnabled?.(level);
}

type Handler = (this: FastifyInstance, request: FastifyRequest, reply: FastifyReply) => unknown;

/** Responds from the cache, and otherwise keeps what `handler` returns or sends. */
function cachedHandler(route: CachedRoute, handler: Handler): Handler {
  return function (request, reply) {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead) return handler.call(this, request, reply);
    const key = requestKey(request as CacheRequest, route);
    if (key === undefined) {
      if (route.headers.has('x-cache')) reply.header('x-cache', 'BYPASS');
      return handler.call(this, request, reply);
    }
    const exchange = { route, request: request as CacheRequest, key, responses, response: reply };
    let isOwn = false;
    let restoreSend = (): void => {};
    const run = (): Promise<unknown> => {
      const { result, restore } = resultOf(() => handler.call(this, request, reply), reply);
      restoreSend = restore;
      return result;
    };
    const make = (): Promise<unknown> => {
      isOwn = true;
      return produce(run, exchange);
    };
    const renewal = route.renewsBehind ? renewalOf(request) : undefined;
    const outcome =
      renewal?.make(key, make) ??
      answerRoute(route, { request: exchange.request, key }, make, {
        ...answerOptions(route, request),
        ...renewalOptions(route, request, key, reply.raw),
        staleOnError: isOutage,
        isAbandoned: () => responses.isGone(reply),
      });
    const toSend = (made: Outcome): unknown => {
      restoreSend();
      if (made instanceof Unshared) {
        if (route.headers.has('x-cache') && !reply.sent) reply.header('x-cache', 'MISS');
        return made.value;
      }
      if (isOwn) forgetRefused(made, madeKeyOf(exchange.request, key), route, reply.raw);
      const body = dress(made, isOwn, exchange);
      if (body !== undefined) responses.typeAsJson(reply, body);
      return body;
    };
    if (!(outcome instanceof Promise)) return toSend(outcome) ?? reply.send();
    return outcome.then(toSend, (error: unknown) => {
      restoreSend();
      throw error;
    });
  };
}

/**
 * Captures what the handler returns or sends: it is sent later, together with the responses that wait for it, once
 * `restore` has restored the `send` of the reply.
 */
function resultOf(
  run: () => unknown,
  reply: FastifyReply,
): { result: Promise<unknown>; restore: () => void } {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const restore = overrideMethods(reply, {
    send(payload: unknown): FastifyReply {
      if (payload instanceof Error) reject(payload);
      else resolve(payload);
      return reply;
    },
  });
  const isReply = (result: unknown): boolean => result === reply;
  try {
    const result = run();
    if (result instanceof Promise)
      // A promise of the reply itself settles once the reply is sent.
      result.then((value: unknown) => isReply(value) || resolve(value), reject);
    else if (result !== undefined && !isReply(result)) resolve(result);
    else if (reply.sent) resolve(undefined);
    // The handler sends later, or ends the response without Fastify.
    else reply.raw.once('close', () => resolve(undefined));
  } catch (error) {
    reject(error as Error);
  }
  return { result: promise, restore: () => restore('send') };
}

/* An error of the client is a valid response; any other failure is an outage. */
function isOutage(error: unknown): boolean {
  const { statusCode, status } = (error ?? {}) as { statusCode?: unknown; status?: unknown };
  return !(Number(statusCode ?? status) < 500);
}
