import type { IncomingMessage } from 'node:http';
import { Answer } from '../answer/answer.ts';
import { due, type Peeked } from '../cache/read-through.ts';
import type { AnswerOptions, Kept } from '../answer/answer-options.ts';
import { answerOptions, renewsEarly, type CachedRoute, type CacheRequest } from './cached-route.ts';
import type { EngineOffers } from './engine-store.ts';
import { isRenewal } from './renewal.ts';
import { requestKey } from './key/request-key.ts';
import type { ResponsePort } from './response-port.ts';
import { dress } from './send-kept.ts';

export type Request = CacheRequest & { readonly raw?: IncomingMessage };
export type Next = (error?: Error) => void;

/** A request for which the cache may have a response. */
interface Asked<Response> {
  readonly request: Request;
  readonly response: Response;
  readonly key: string;
  /** From the engine; undefined if nothing is offered to it. */
  readonly ticket: number | undefined;
}

/** The hook of one route: it serves hits, and leaves everything else to the handler. */
export class EarlyAnswers<Response> {
  /** Set if its responses are offered to the engine. */
  offers: EngineOffers | undefined;
  /** True if everything is left to the handler. */
  isOff = false;
  readonly #route: CachedRoute;
  readonly #responses: ResponsePort<unknown>;
  readonly #prepare: ((response: Response) => void) | undefined;
  /** The same for every request: the part that depends on a request is decided in this class. */
  readonly #options: AnswerOptions;

  /** @param prepare applies to a response what the framework itself would set ahead of the handler */
  constructor(
    route: CachedRoute,
    responses: ResponsePort<Response>,
    prepare?: (response: Response) => void,
  ) {
    this.#route = route;
    this.#options = answerOptions(route, {});
    this.#responses = responses as ResponsePort<unknown>;
    this.#prepare = prepare;
  }

  /** Sends the response, or calls `next`: at once if the store is in the process. */
  answer(request: Request, response: Response, next: Next): void {
    const key = this.#keyOf(request, response);
    if (key === undefined) return next();
    const ticket = this.offers?.ticket();
    const peeked = this.#route.cache.peek(key, this.#options);
    const asked: Asked<Response> = { request, response, key, ticket };
    if (!(peeked instanceof Promise)) this.#end(peeked, asked, next);
    else void peeked.then((found) => this.#end(found, asked, next));
  }

  #keyOf(request: Request, response: unknown): string | undefined {
    if (this.isOff || (this.#route.renewsBehind && isRenewal(request))) return undefined;
    if (request.method !== 'GET' && request.method !== 'HEAD') return undefined;
    try {
      const key = requestKey(request, this.#route);
      return this.#responses.obstacle?.(response) === undefined ? key : undefined;
    } catch {
      // The key may need something that is only known in the handler, where the error belongs.
      return undefined;
    }
  }

  #end(found: Peeked, asked: Asked<Response>, next: Next): void {
    if (found === undefined) return next();
    if (found === due) {
      renewsEarly(asked.request);
      return next();
    }
    try {
      this.#send(found, asked);
    } catch (error) {
      next(error as Error);
    }
  }

  #send(found: Kept, { request, response, key, ticket }: Asked<Response>): void {
    const responses = this.#responses;
    this.#prepare?.(response);
    const body = dress(found, false, { route: this.#route, request, key, responses, response });
    if (body !== undefined) responses.typeAsJson(response, body);
    if (ticket !== undefined && found instanceof Answer)
      this.offers?.watch(request, responses.rawOf(response), { key, answer: found, ticket });
    responses.send(response, body);
  }
}
