import {
  HttpException,
  Inject,
  Injectable,
  Optional,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Unshared, type CacheRequest, type Kept } from '@redline/response-cache';
import {
  answerOptions,
  answerRoute,
  dress,
  fastifyResponses,
  forgetRefused,
  madeKeyOf,
  produce,
  renewalOf,
  renewalOptions,
  requestKey,
  type Exchange,
  type ResponsePort,
} from '@redline/response-cache/route';
import { lastValueFrom, of, type Observable } from 'rxjs';
import { JsonCacheError } from './errors.ts';
import { JsonCacheRoutes } from './json-cache-routes.ts';
import { nestExpressResponses } from './nest-express-responses.ts';

/*
 * Requests that have passed the cache: if it stands in front of other interceptors, Nest calls it twice, there and where the
 * decorator put it. A hit goes no further, so it need not be remembered.
 */
const passed = new WeakSet<object>();

/** Serves the route from the cache. Added by `@JsonCache`, and by the module in front of other interceptors. */
@Injectable()
export class JsonCacheInterceptor implements NestInterceptor {
  readonly #routes: JsonCacheRoutes;
  readonly #host: HttpAdapterHost;
  #responses: ResponsePort<unknown> | undefined;

  constructor(
    @Optional() @Inject(JsonCacheRoutes) routes: JsonCacheRoutes | undefined,
    @Inject(HttpAdapterHost) host: HttpAdapterHost,
  ) {
    if (routes === undefined) {
      throw new JsonCacheError(
        'ERR_REDLINE_CACHE_MODULE',
        '@JsonCache needs the cache of JsonCacheModule: add JsonCacheModule.forRoot() to the imports of the root module.',
      );
    }
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
    if (route.isInFront && passed.has(request)) return next.handle();
    const response: unknown = context.getArgByIndex(1);
    const responses = (this.#responses ??= this.#choosePort());
    const key = requestKey(request, route);
    const obstacle = key === undefined ? undefined : responses.obstacle?.(response);
    if (key === undefined || obstacle !== undefined) {
      if (obstacle === undefined) this.#routes.privateRequests += 1;
      else route.warnOnce(obstacle);
      if (route.isInFront) passed.add(request);
      if (route.headers.has('x-cache')) responses.setHeader(response, 'x-cache', 'BYPASS');
      return next.handle();
    }
    const exchange = { route, request, key, responses, response };
    let isOwn = false;
    const make = (): Promise<unknown> => {
      isOwn = true;
      if (route.isInFront) passed.add(request);
      return produce(() => lastValueFrom(next.handle()), exchange);
    };
    const renewal = route.renewsBehind ? renewalOf(request) : undefined;
    const answer =
      renewal?.make(key, make) ??
      answerRoute(route, { request, key }, make, {
        ...answerOptions(route, request),
        ...renewalOptions(route, request, key, responses.rawOf(response)),
        staleOnError: isOutage,
        isAbandoned: () => responses.isGone(response),
      });
    if (!(answer instanceof Promise)) return send(answer, isOwn, exchange);
    return answer.then((outcome) => {
      if (!(outcome instanceof Unshared)) {
        if (isOwn)
          forgetRefused(outcome, madeKeyOf(request, key), route, responses.rawOf(response));
        return send(outcome, isOwn, exchange);
      }
      if (route.headers.has('x-cache') && !responses.isTaken(response))
        responses.setHeader(response, 'x-cache', 'MISS');
      return of(outcome.value);
    });
  }

  #choosePort(): ResponsePort<unknown> {
    return (
      this.#host.httpAdapter.getType() === 'fastify' ? fastifyResponses : nestExpressResponses
    ) as ResponsePort<unknown>;
  }
}

function send(answer: Kept, isOwn: boolean, exchange: Exchange): Observable<unknown> {
  const body = dress(answer, isOwn, exchange);
  if (body === undefined) return of(undefined);
  const { responses, response } = exchange;
  responses.typeAsJson(response, body);
  // Interceptors that run on hits still see the text.
  if (typeof body !== 'string') responses.sendAs(response, body);
  const text = typeof answer === 'string' ? answer : answer.json;
  // Nest on Express sends an empty body for null, and a cached route must not differ.
  return of(text === 'null' ? null : text);
}

/* An error of the client is a valid response; any other failure is an outage. */
function isOutage(error: unknown): boolean {
  return !(error instanceof HttpException) || error.getStatus() >= 500;
}
