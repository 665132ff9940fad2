import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Deferrer } from '../deferrer.ts';
import { HeldResponse } from '../request/hold-response.ts';
import { ownEvents, ownEventsOfResponse } from '../request/own-events.ts';
import { factsOf } from '../request/request-facts.ts';
import { repliedWith, watchEnd } from '../request/watch-end.ts';
import {
  Scope,
  scopes,
  type Passage,
  type RequestFacts,
  type ScopeHost,
} from '../request/scope.ts';
import { passingAll } from './passing-all.ts';
import { refuseUnknown } from '../validate.ts';

export interface ExpressDeferOptions {
  /**
   * Returns the id of a request, for the context of its jobs.
   * @default request.id, if something has set it
   */
  requestId?: (request: IncomingMessage) => string | undefined;
}

/** The signature that Express, Connect and `node:http` itself call. */
export type Middleware = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

class ResponseHost implements ScopeHost {
  readonly scope: Scope;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #requestId: (request: IncomingMessage) => string | undefined;
  readonly #held: HeldResponse;

  constructor(
    deferrer: Deferrer,
    request: IncomingMessage,
    response: ServerResponse,
    requestId: (request: IncomingMessage) => string | undefined,
  ) {
    this.#request = request;
    this.#response = response;
    this.#requestId = requestId;
    this.#held = new HeldResponse(response);
    this.scope = new Scope(deferrer, this);
    this.#held.scope = this.scope;
    ownEvents(request, this.scope);
    ownEventsOfResponse(response, this.scope);
  }

  get subject(): object {
    return this.#response;
  }

  get isAnswered(): boolean {
    return this.#held.isEnded;
  }

  get isGone(): boolean {
    return this.#response.destroyed;
  }

  get passage(): Passage {
    return this.#held.passage;
  }

  facts(): RequestFacts {
    return factsOf(this.#request.headers, this.#requestId(this.#request));
  }

  watch(scope: Scope): void {
    watchEnd(this.#response, scope);
  }

  repliedWith(): number | undefined {
    return repliedWith(this.#response);
  }

  guard(): void {
    this.#held.guard();
  }
}

const optionNames = {
  requestId: true,
} satisfies Record<keyof ExpressDeferOptions, true>;

/**
 * Gives every request a scope: jobs deferred in it leave after its response, and the response waits for the levels of
 * its jobs. Use it before everything that defers or wraps the response; close the deferrer when the server is closed.
 *
 * @example
 * ```ts
 * app.use(expressDefer(deferrer));
 * ```
 */
export function expressDefer(deferrer: Deferrer, options: ExpressDeferOptions = {}): Middleware {
  refuseUnknown('expressDefer', options, optionNames);
  const { requestId = idOf } = options;
  return passingAll<Middleware>((request, response, next) => {
    const { scope } = new ResponseHost(deferrer, request, response, requestId);
    scopes.run(scope, next);
  });
}

function idOf(request: IncomingMessage): string | undefined {
  const { id } = request as { id?: unknown };
  return typeof id === 'string' ? id : undefined;
}
