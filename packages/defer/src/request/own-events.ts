import type { EventEmitter } from 'node:events';
import { scopes, type Scope } from './scope.ts';

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
