import {
  Inject,
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { unshared, Unshared, type JsonCache } from '@redline/response-cache';
import { lastValueFrom, of, type Observable } from 'rxjs';
import { expressResponses } from './express-responses.ts';
import { fastifyResponses } from './fastify-responses.ts';
import { JsonCacheRoutes } from './json-cache-routes.ts';
import type { CacheRequest } from './options.ts';
import { requestKey } from './request-key.ts';
import type { ResponsePort } from './response-port.ts';

export const cacheToken: unique symbol = Symbol('JsonCache');

/** Answers the route from the cache. Put there by `@JsonCache`. */
@Injectable()
export class JsonCacheInterceptor implements NestInterceptor {
  readonly #cache: JsonCache;
  readonly #routes: JsonCacheRoutes;
  readonly #host: HttpAdapterHost;
  #responses: ResponsePort<unknown> | undefined;

  constructor(
    @Inject(cacheToken) cache: JsonCache,
    @Inject(JsonCacheRoutes) routes: JsonCacheRoutes,
    @Inject(HttpAdapterHost) host: HttpAdapterHost,
  ) {
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
    const request: CacheRequest = context.getArgByIndex(0);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead || route.obstacle !== undefined) return next.handle();
    const key = requestKey(request, route);
    if (key === undefined) return next.handle();

    const response: unknown = context.getArgByIndex(1);
    const responses = (this.#responses ??= this.#choosePort());
    const answer = this.#cache.answer(key, () => produce(next, responses, response), {
      ttlMs: route.ttlMs,
      name: route.name,
      serialize: (value) => responses.serialize(response, value),
    });
    if (typeof answer === 'string') return send(answer, responses, response);
    return answer.then((outcome) =>
      outcome instanceof Unshared ? of(outcome.value) : send(outcome, responses, response),
    );
  }

  #choosePort(): ResponsePort<unknown> {
    return this.#host.httpAdapter.getType() === 'fastify' ? fastifyResponses : expressResponses;
  }
}

/* A hit can repeat a body and nothing else, so whatever says more than that is for its own caller. */
async function produce(
  next: CallHandler,
  responses: ResponsePort<unknown>,
  response: unknown,
): Promise<unknown> {
  const statusOfRoute = responses.statusOf(response);
  const value: unknown = await lastValueFrom(next.handle());
  const status = responses.statusOf(response);
  const isPlain =
    status === statusOfRoute &&
    status >= 200 &&
    status < 300 &&
    !responses.isTaken(response) &&
    !responses.setsCookie(response);
  return isPlain ? value : unshared(value);
}

function send(
  json: string,
  responses: ResponsePort<unknown>,
  response: unknown,
): Observable<unknown> {
  // Nest on Express answers null with an empty body, and a cached route must not differ.
  if (json === 'null') return of(null);
  responses.typeAsJson(response);
  return of(json);
}
