import type { EventEmitter } from 'node:events';
import { scopes, type Scope } from './scope.ts';

const scopeOf = Symbol('redline.defer.scope');
/* The engine of `@redline/http` does less for a response whose `emit` is known to call the original. */
const callsThrough: unique symbol = Symbol.for('redline.calls-through') as never;

type Owned = EventEmitter & { [scopeOf]?: Scope };
type Emit = (event: string | symbol, ...args: unknown[]) => boolean;

/*
 * Node emits the events of a request (its body, its end) in the context of the connection, which knows no request: what
 * listens would defer outside of it. The same function for every request, as for the methods of its response.
 */
const shared: Emit = Object.assign(
  function emit(this: Owned, ...args: unknown[]): boolean {
    const original = (Object.getPrototypeOf(this) as Owned).emit as Emit;
    return emitIn(this, original, args);
  },
  { [callsThrough]: true as const },
);

function emitIn(owned: Owned, emit: Emit, args: unknown[]): boolean {
  const scope = owned[scopeOf]!;
  if (scopes.getStore() === scope) return Reflect.apply(emit, owned, args) as boolean;
  return scopes.run(scope, Reflect.apply, emit, owned, args) as boolean;
}

/** Has the listeners of a request, or of its response, run in its scope. */
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
  owned.emit = (...args: unknown[]) => emitIn(owned, emit, args);
}

/**
 * The scope of a request that is named by hand: a request or a response of Node, or what a framework makes of it.
 * Fastify has it in `raw`; Express's response and Koa's context in `req`; Hono's context in `env.incoming`.
 */
export function scopeNamedBy(request: object): Scope | undefined {
  const { raw, req, env } = request as { raw?: Owned; req?: Owned; env?: { incoming?: Owned } };
  return (
    (request as Owned)[scopeOf] ?? raw?.[scopeOf] ?? req?.[scopeOf] ?? env?.incoming?.[scopeOf]
  );
}
