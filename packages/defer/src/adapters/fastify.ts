import type {
  DoneFuncWithErrOrRes,
  FastifyInstance,
  FastifyPluginAsync,
  FastifyReply,
  FastifyRequest,
  onRequestHookHandler,
  preValidationHookHandler,
} from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { Deferrer } from '../deferrer.ts';
import { passingAll, factsOf, RequestHost } from '../request/request-host.ts';
import type { HeldResponse } from '../request/hold-response.ts';
import { scopes, type HeldReply, type RequestFacts, type Scope } from '../request/scope.ts';

export interface FastifyDeferOptions {
  deferrer: Deferrer;
  /**
   * Closes the deferrer with the app: drains, then journals the rest.
   * @default true
   */
  closeWithApp?: boolean;
}

declare module 'fastify' {
  interface FastifyInstance {
    deferrer: Deferrer;
  }
}

const hostOf = Symbol('redline.defer.host');

type Hosted = FastifyRequest & { [hostOf]?: FastifyHost };

class FastifyHost extends RequestHost {
  #isSent = false;
  readonly #request: FastifyRequest;

  constructor(deferrer: Deferrer, request: FastifyRequest, reply: FastifyReply) {
    super(deferrer, request.raw, reply.raw);
    this.#request = request;
  }

  override get isAnswered(): boolean {
    return this.#isSent || super.isAnswered;
  }

  facts(): RequestFacts {
    return factsOf(this.#request.headers, this.#request.id);
  }

  /** Called when the handler has sent its payload: a stream continues in the request's context. */
  sends(payload: unknown): void {
    this.#isSent = !isStream(payload);
  }
}

class HeldPayload implements HeldReply {
  readonly #held: HeldResponse;
  readonly #next: DoneFuncWithErrOrRes;
  readonly #payload: unknown;

  constructor(held: HeldResponse, next: DoneFuncWithErrOrRes, payload: unknown) {
    this.#held = held;
    this.#next = next;
    this.#payload = payload;
  }

  released(error: unknown): void {
    const next = this.#next;
    // The jobs so far have been waited for. A later hook, or a stream, may have more to wait for.
    this.#held.open();
    if (error === undefined) next(null, this.#payload);
    else next(error as Error);
  }
}

/**
 * Adds the hooks to an instance at once, for code that cannot register a plugin: before any route is added. Returns the
 * first of them, for callers that can run it even earlier.
 */
export function attachToFastify(
  app: FastifyInstance,
  deferrer: Deferrer,
): (request: FastifyRequest, reply: FastifyReply, next: () => void) => void {
  app.decorateRequest(hostOf as never, undefined as never);

  const open = (request: FastifyRequest, reply: FastifyReply, next: () => void): void => {
    const host = ((request as Hosted)[hostOf] ??= new FastifyHost(deferrer, request, reply));
    enter(host.scope, next);
  };
  app.addHook('onRequest', passingAll<onRequestHookHandler>(open));

  // A body is read, and a hook continues, in a context that is not the request's.
  const reenter: preValidationHookHandler = (request, _reply, next) => {
    enter((request as Hosted)[hostOf]?.scope, next);
  };
  app.addHook('preValidation', passingAll(reenter));

  // The payload is ready and nothing has left: the cheapest place to wait for a write.
  app.addHook('onSend', (request, reply, payload, next) => {
    const host = (request as Hosted)[hostOf];
    if (host === undefined) return next(null, payload);
    const { scope, held } = host;
    host.sends(payload);
    if (scope.isConcerned) scope.guard();
    if (!scope.isGuarded) return next(null, payload);
    scope.hold(reply.statusCode, new HeldPayload(held, next, payload));
  });
  return passingAll(open);
}

function isStream(payload: unknown): boolean {
  return typeof payload === 'object' && payload !== null && !(payload instanceof Uint8Array);
}

function enter(scope: Scope | undefined, next: () => void): void {
  if (scope === undefined || scopes.getStore() === scope) next();
  else scopes.run(scope, next);
}

const plugin: FastifyPluginAsync<FastifyDeferOptions> = async (app, options) => {
  const { deferrer, closeWithApp = true } = options;
  app.decorate('deferrer', deferrer);
  attachToFastify(app, deferrer);
  if (closeWithApp) app.addHook('onClose', () => deferrer.close());
  await deferrer.ready();
};

/**
 * Gives every request a scope: jobs deferred in it leave after its response, and the response waits for the levels of
 * its jobs. `app.deferrer` is the deferrer.
 *
 * @example
 * ```ts
 * await app.register(fastifyDefer, { deferrer: createDefer({ … }) });
 * ```
 */
export const fastifyDefer: FastifyPluginAsync<FastifyDeferOptions> = fastifyPlugin(plugin, {
  fastify: '5.x',
  name: '@redline/defer',
});
export default fastifyDefer;
