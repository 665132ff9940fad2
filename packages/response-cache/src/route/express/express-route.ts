import type { IncomingMessage, ServerResponse } from 'node:http';
import { Answer } from '../../answer/answer.ts';
import { type Kept, type Outcome, Unshared } from '../../answer/answer-options.ts';
import { answerRoute, madeKeyOf, forgetRefused } from '../answer-route.ts';
import {
  answerOptions,
  type CachedRoute,
  type CacheRequest,
  type Exchange,
} from '../cached-route.ts';
import type { EngineOffers } from '../engine-store.ts';
import type { ResponsePort } from '../response-port.ts';
import { expressResponses } from './express-responses.ts';
import { engineOffers, type Placement, lookAround, type Around } from '../hit-placement.ts';
import { produce } from '../run-handler.ts';
import { renewalOf, renewalOptions } from '../renewal.ts';
import { requestKey } from '../key/request-key.ts';
import { dress } from '../send-kept.ts';

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

interface Layer {
  readonly name?: string;
  readonly handle?: unknown;
  readonly route?: { readonly stack: readonly { readonly handle: unknown }[] };
}

/* Middleware of Express itself and of its own packages: it lets every request pass, and sets the same headers on all responses. */
const harmless = new Set([
  'query',
  'expressInit',
  'jsonParser',
  'urlencodedParser',
  'rawParser',
  'textParser',
  'corsMiddleware',
  'helmetMiddleware',
]);

/**
 * Returns the middleware that runs before `own`, which is that of a route; undefined if it is not a route of the app itself.
 *
 * @param isHarmless true for middleware that is known to let every request pass
 */
export function middlewareBefore(
  app: unknown,
  own: unknown,
  isHarmless: (middleware: unknown) => boolean = () => false,
): Around | undefined {
  const { router, _router } = (app ?? {}) as Record<'router' | '_router', unknown>;
  const { stack } = (_router ?? router ?? {}) as { stack?: readonly Layer[] };
  const before: unknown[] = [];
  for (const { name, handle, route } of stack ?? []) {
    if (route === undefined) {
      if (!harmless.has(name ?? '')) before.push(handle);
      continue;
    }
    const handles = route.stack.map((layer) => layer.handle);
    if (!handles.includes(own)) continue;
    before.push(...handles.slice(0, handles.indexOf(own)));
    return lookAround(before.filter((each) => !isHarmless(each)));
  }
  return undefined;
}
