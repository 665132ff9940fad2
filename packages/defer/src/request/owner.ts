import { type DeferError, optionError } from '../errors.ts';
import { OwnWork } from '../job/async-context.ts';
import { scopes, type Scope, type ScopeDeferrer } from './scope.ts';
import type { EventEmitter } from 'node:events';

/** The request that a job belongs to, as far as it is known. */
export interface Owner {
  readonly scope: Scope | undefined;
  /** The request whose trace the job continues. */
  readonly origin: Scope | undefined;
  /** True if the caller named it, or it is known to be none: the context of the call does not count. */
  readonly isCertain: boolean;
}

export const noRequest: Owner = { scope: undefined, origin: undefined, isCertain: true };

/** @throws {DeferError} ERR_REDLINE_DEFER_OPTION */
export function ownerOf(deferrer: ScopeDeferrer, named: object | null | undefined): Owner {
  if (named === null) return noRequest;
  if (named !== undefined) {
    const scope = within(deferrer, scopeNamedBy(named));
    if (scope === undefined) throw unknownRequest();
    return { scope, origin: scope, isCertain: true };
  }
  const scope = within(deferrer, scopes.getStore());
  // The context of a handler is that of the request that deferred its job; the next job is the handler's own.
  const isOwnWork = (scope === undefined || !scope.isAtWork) && OwnWork.isRunning();
  return { scope: isOwnWork ? undefined : scope, origin: scope, isCertain: isOwnWork };
}

/* A request may pass the adapters of several deferrers. */
function within(deferrer: ScopeDeferrer, given: Scope | undefined): Scope | undefined {
  let scope = given;
  while (scope !== undefined && scope.deferrer !== deferrer) scope = scope.outer;
  return scope;
}

function unknownRequest(): DeferError {
  return optionError(
    'The option request must be a request that has passed expressDefer, fastifyDefer or DeferModule of this deferrer, or null for none; got another object.',
  );
}

const scopeOf = Symbol('redline.defer.scope');
/** Number of `finish` listeners a response starts with: Node's own, which defer nothing. */
const nodesOwn = Symbol('redline.defer.nodes-own');
/* The engine of `@redline/http` does less work for a response whose `emit` is known to call the original. */
const callsThrough: unique symbol = Symbol.for('redline.calls-through') as never;

type Owned = EventEmitter & { [scopeOf]?: Scope; [nodesOwn]?: number };
type Emit = (event: string | symbol, ...args: unknown[]) => boolean;

/*
 * Node emits the events of a request (its body, its end) in the context of the connection, which belongs to no request:
 * listeners would defer outside of it. All requests share one function, as for the methods of their responses.
 */
function sharedEmit(this: Owned, event: string | symbol, ...args: unknown[]): boolean {
  const { emit } = Object.getPrototypeOf(this) as Owned;
  // Most events have no listener but Node's own, and entering a context costs half a microsecond.
  const own = event === 'finish' ? (this[nodesOwn] ?? 0) : 0;
  if (this.listenerCount(event) > own && scopes.getStore() !== this[scopeOf]) {
    return enter(this, emit, event, args);
  }
  return args.length === 0 ? emit.call(this, event) : emit.call(this, event, ...args);
}

const shared: Emit = Object.assign(sharedEmit, { [callsThrough]: true as const });

function enter(owned: Owned, emit: Emit, event: string | symbol, args: unknown[]): boolean {
  return scopes.run(owned[scopeOf]!, Reflect.apply, emit, owned, [event, ...args]) as boolean;
}

/** Like `ownEvents`, for a response, which has a listener of Node's own. */
export function ownEventsOfResponse(response: EventEmitter, scope: Scope): void {
  const listeners = response.listenerCount('finish');
  // With more than one, an earlier middleware has added one.
  if (listeners === 1) (response as Owned)[nodesOwn] = 1;
  ownEvents(response, scope);
}

/** Makes the listeners of a request, or of its response, run in its scope. */
export function ownEvents(of: EventEmitter, scope: Scope): void {
  const owned = of as Owned;
  const outer = owned[scopeOf];
  owned[scopeOf] = scope;
  if (outer !== undefined) {
    scope.outer = outer;
    return;
  }
  if (!Object.hasOwn(owned, 'emit')) {
    owned.emit = shared;
    return;
  }
  const emit = owned.emit as Emit;
  owned.emit = (event: string | symbol, ...args: unknown[]) => enter(owned, emit, event, args);
}

/**
 * Returns the scope of a request named by the caller: a request or a response of Node, or a framework's object for it.
 * Fastify has it in `raw`; Express's response and Koa's context in `req`; Hono's context in `env.incoming`.
 */
export function scopeNamedBy(request: object): Scope | undefined {
  const { raw, req, env } = request as { raw?: Owned; req?: Owned; env?: { incoming?: Owned } };
  return (
    (request as Owned)[scopeOf] ?? raw?.[scopeOf] ?? req?.[scopeOf] ?? env?.incoming?.[scopeOf]
  );
}
