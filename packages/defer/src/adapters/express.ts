import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Deferrer } from '../deferrer.ts';
import { factsOf, RequestHost, passingAll } from '../request/request-host.ts';
import { scopes, type RequestFacts } from '../request/scope.ts';
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

class ExpressHost extends RequestHost {
  readonly #request: IncomingMessage;
  readonly #requestId: NonNullable<ExpressDeferOptions['requestId']>;

  constructor(
    deferrer: Deferrer,
    request: IncomingMessage,
    response: ServerResponse,
    requestId: NonNullable<ExpressDeferOptions['requestId']>,
  ) {
    super(deferrer, request, response);
    this.#request = request;
    this.#requestId = requestId;
  }

  facts(): RequestFacts {
    return factsOf(this.#request.headers, this.#requestId(this.#request));
  }
}

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
  refuseUnknown<keyof ExpressDeferOptions>('expressDefer', options, { requestId: true });
  const { requestId = idOf } = options;
  return passingAll<Middleware>((request, response, next) => {
    const { scope } = new ExpressHost(deferrer, request, response, requestId);
    scopes.run(scope, next);
  });
}

function idOf(request: IncomingMessage): string | undefined {
  const { id } = request as { id?: unknown };
  return typeof id === 'string' ? id : undefined;
}
