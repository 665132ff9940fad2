import {
  Inject,
  Injectable,
  Optional,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Unshared, type JsonCache, type Kept } from '@redline/response-cache';
import { of, type Observable } from 'rxjs';
import { JsonCacheError } from './errors.ts';
import { expressResponses } from './express-responses.ts';
import { fastifyResponses } from './fastify-responses.ts';
import { JsonCacheRoutes } from './json-cache-routes.ts';
import { giveHead } from './kept-head.ts';
import type { CacheRequest } from './options.ts';
import { produce } from './produce.ts';
import { requestKey } from './request-key.ts';
import type { ResponsePort } from './response-port.ts';

export const cacheToken: unique symbol = Symbol('JsonCache');

/* Where the cache stands in front of others, Nest comes by more than once: here, and where the decorator put it. */
const started = new WeakSet<object>();

/** Answers the route from the cache. Put there by `@JsonCache`, and by the module in front of other interceptors. */
@Injectable()
export class JsonCacheInterceptor implements NestInterceptor {
  readonly #cache: JsonCache;
  readonly #routes: JsonCacheRoutes;
  readonly #host: HttpAdapterHost;
  #responses: ResponsePort<unknown> | undefined;

  constructor(
    @Optional() @Inject(cacheToken) cache: JsonCache | undefined,
    @Optional() @Inject(JsonCacheRoutes) routes: JsonCacheRoutes | undefined,
    @Inject(HttpAdapterHost) host: HttpAdapterHost,
  ) {
    if (cache === undefined || routes === undefined) {
      throw new JsonCacheError(
        'ERR_REDLINE_CACHE_MODULE',
        '@JsonCache needs the cache of JsonCacheModule: add JsonCacheModule.forRoot() to the imports of the root module.',
      );
    }
    this.#cache = cache;
    this.#routes = routes;
    this.#host = host;
  }

  intercept(
    context: ExecutionContext,
    next: CallHandler,
  ): Observable<unknown> | Promise<Observable<unknown>> {
    if (context.getType() !== 'http') return next.handle();
    const route = this.#routes.planOf(context.getClass(), context.getHandler());
    if (route === undefined || route.obstacle !== undefined) return next.handle();
    const request: CacheRequest = context.getArgByIndex(0);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead) return next.handle();
    if (route.isInFront) {
      if (started.has(request)) return next.handle();
      started.add(request);
    }
    const response: unknown = context.getArgByIndex(1);
    const responses = (this.#responses ??= this.#choosePort());
    const key = requestKey(request, route);
    if (key === undefined) {
      this.#routes.privateRequests += 1;
      return next.handle();
    }
    const obstacle = responses.obstacle?.(response);
    if (obstacle !== undefined) {
      route.warnOnce(obstacle);
      return next.handle();
    }
    let isOwn = false;
    const answer = this.#cache.answer(
      key,
      () => {
        isOwn = true;
        return produce(next, route, request, responses, response);
      },
      {
        ttl: typeof route.ttl === 'number' ? route.ttl : undefined,
        name: route.name,
        isAbandoned: () => responses.isGone(response),
      },
    );
    if (!(answer instanceof Promise)) return send(answer, isOwn, responses, response);
    return answer.then((outcome) =>
      outcome instanceof Unshared ? of(outcome.value) : send(outcome, isOwn, responses, response),
    );
  }

  #choosePort(): ResponsePort<unknown> {
    return (
      this.#host.httpAdapter.getType() === 'fastify' ? fastifyResponses : expressResponses
    ) as ResponsePort<unknown>;
  }
}

function send(
  answer: Kept,
  isOwn: boolean,
  responses: ResponsePort<unknown>,
  response: unknown,
): Observable<unknown> {
  const json = typeof answer === 'string' ? answer : answer.json;
  // The handler has set it itself on the response of its own caller.
  if (typeof answer !== 'string' && !isOwn) giveHead(answer.head, responses, response);
  // Nest on Express answers null with an empty body, and a cached route must not differ.
  if (json === 'null') return of(null);
  responses.typeAsJson(response);
  return of(json);
}
