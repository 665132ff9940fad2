import type { IncomingMessage, ServerResponse } from 'node:http';
import { Answer } from '../answer/answer.ts';
import type { Kept, Outcome } from '../answer/answer-options.ts';
import { Unshared } from '../answer/unshared.ts';
import { answerRoute, madeKeyOf } from './answer-route.ts';
import { answerOptions, type CachedRoute, type CacheRequest } from './cached-route.ts';
import type { EngineOffers } from './engine-store.ts';
import type { Exchange } from './exchange.ts';
import { expressResponses } from './express-responses.ts';
import { middlewareBefore } from './express-stack.ts';
import { engineOffers, type Placement } from './hit-placement.ts';
import { produce } from './run-handler.ts';
import { forgetRefused } from './refused-response.ts';
import { renewalOf, renewalOptions } from './renewal.ts';
import { requestKey } from './request-key.ts';
import type { ResponsePort } from './response-port.ts';
import { dress } from './send-kept.ts';

export interface ExpressResponse extends ServerResponse {
  json(value: unknown): unknown;
  status(code: number): unknown;
}

type Next = (error?: unknown) => void;

const responses = expressResponses as ResponsePort<unknown>;

/** A response of a handler with a status of 500 or more: waiting requests get the same. */
class FailedResponse extends Error {
  readonly status: number;
  readonly value: unknown;

  constructor(status: number, value: unknown) {
    super(`The handler answered with the status ${status}.`);
    this.status = status;
    this.value = value;
  }
}

/** One route of Express, served at the position of its middleware. */
export class CachedExpressRoute {
  readonly #route: CachedRoute;
  #offers: EngineOffers | undefined;

  constructor(route: CachedRoute) {
    this.#route = route;
  }

  /** @param middleware the function in the route, by which the middleware before it is found */
  place(request: IncomingMessage, middleware: unknown, warn: (line: string) => void): Placement {
    const { at, guards } = this.#route;
    if (at !== 'engine') return { at, reason: undefined };
    const { app } = request as { app?: unknown };
    const before =
      middlewareBefore(app, middleware) ??
      (guards === 'skipped' ? { deciding: [], logs: false } : undefined);
    const { server } = request.socket as { server?: object };
    const offers =
      before === undefined
        ? "what stands before its router is not known; guards: 'skipped' says that hits do without"
        : engineOffers(this.#route, { server, revalidates: responses.revalidates, warn }, before);
    if (typeof offers === 'string') return { at: 'hook', reason: offers };
    this.#offers = offers;
    return { at: 'engine', reason: undefined };
  }

  answer(request: CacheRequest, response: ExpressResponse, next: Next): void {
    const route = this.#route;
    if (request.method !== 'GET' && request.method !== 'HEAD') return next();
    const key = requestKey(request, route);
    const obstacle = key === undefined ? undefined : responses.obstacle?.(response);
    if (obstacle !== undefined) route.warnOnce(obstacle);
    if (key === undefined || obstacle !== undefined) {
      if (route.headers.has('x-cache')) response.setHeader('x-cache', 'BYPASS');
      return next();
    }
    const ticket = this.#offers?.ticket();
    const exchange = { route, request, key, responses, response };
    let isOwn = false;
    const make = (): Promise<unknown> => {
      isOwn = true;
      return produce(() => resultOf(response, next), exchange);
    };
    const renewal = route.renewsBehind ? renewalOf(request) : undefined;
    const outcome =
      renewal?.make(key, make) ??
      answerRoute(route, { request, key }, make, {
        ...answerOptions(route, request),
        ...renewalOptions(route, request, key, response),
        isAbandoned: () => responses.isGone(response),
      });
    const end = (made: Outcome): void => {
      if (isOwn) restoreJson(response);
      if (made instanceof Unshared) return sendUnshared(made.value, route, response);
      if (ticket !== undefined && made instanceof Answer)
        this.#offers?.watch(request, response, { key, answer: made, ticket });
      if (isOwn) forgetRefused(made, madeKeyOf(request, key), route, response);
      send(made, isOwn, exchange);
    };
    if (!(outcome instanceof Promise)) return end(outcome);
    outcome.then(end).catch((error: unknown) => {
      if (isOwn) restoreJson(response);
      fail(error, response, next);
    });
  }
}

function send(
  made: Kept,
  isOwn: boolean,
  exchange: Exchange & { readonly response: ExpressResponse },
): void {
  const { response } = exchange;
  // The handler failed: the old response is sent instead.
  if (isOwn && response.statusCode >= 500) response.status(200);
  const body = dress(made, isOwn, exchange);
  if (body !== undefined) responses.typeAsJson(response, body);
  responses.send(response, body);
}

function fail(error: unknown, response: ExpressResponse, next: Next): void {
  if (response.headersSent || response.destroyed) return;
  if (!(error instanceof FailedResponse)) return next(error);
  response.status(error.status);
  response.json(error.value);
}

function sendUnshared(value: unknown, route: CachedRoute, response: ExpressResponse): void {
  if (responses.isTaken(response)) return;
  if (route.headers.has('x-cache')) response.setHeader('x-cache', 'MISS');
  response.json(value);
}

/** Captures what later handlers pass to `response.json()`; it is sent later, together with the responses that wait for it. */
function resultOf(response: ExpressResponse, next: Next): Promise<unknown> {
  return new Promise((resolve, reject) => {
    response.json = (value) => {
      const { statusCode } = response;
      if (statusCode >= 500) reject(new FailedResponse(statusCode, value));
      else resolve(value);
      return response;
    };
    response.once('close', () => {
      if (response.headersSent) resolve(undefined);
      else reject(new Error('The client has left before there was a response.'));
    });
    next();
  });
}

function restoreJson(response: { json?: unknown }): void {
  if (Object.hasOwn(response, 'json')) delete response.json;
}
