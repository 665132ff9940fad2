import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** Calls back in a context. */
export type RunIn = (context: object, callback: () => unknown) => unknown;

type Emit = (this: object, name: string | symbol, ...args: unknown[]) => boolean;

interface Emitter {
  emit: Emit;
}

/** A request, its response and their server, as Node's channels publish them. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly server: Server;
}

/** Events that hand a request over. */
const REQUESTS = new Set<string | symbol>(['request', 'checkContinue', 'checkExpectation']);
const contexts = new WeakMap<object, object>();
const prepared = new WeakSet<object>();

/**
 * Runs the listeners of a request, and those of its own events and of its response's, in a context.
 *
 * `AsyncLocalStorage.enterWith` does less: Node calls the listeners of a body's events in the context of the connection, and
 * on Node 22 the context of one request stays for what its connection does next.
 */
export function runListenersIn(
  context: object,
  { request, response, server }: Exchange,
  run: RunIn,
): void {
  contexts.set(request, context);
  emitIn(context, request as never, run);
  emitIn(context, response as never, run);
  if (!prepared.has(server)) {
    prepared.add(server);
    prepare(server as never, run);
  }
}

/** Events are emitted in the context of the request that they have. */
function prepare(server: Emitter, run: RunIn): void {
  const { emit } = server;
  replaceEmit(server, function (name, ...args) {
    const context = REQUESTS.has(name) ? contexts.get(args[0] as object) : undefined;
    if (context === undefined) return emit.call(this, name, ...args);
    return run(context, () => emit.call(this, name, ...args)) as boolean;
  });
}

function emitIn(context: object, emitter: Emitter, run: RunIn): void {
  const { emit } = emitter;
  replaceEmit(emitter, function (...args) {
    return run(context, () => emit.apply(this, args)) as boolean;
  });
}

/** Not enumerable, as the method it replaces. */
function replaceEmit(emitter: Emitter, emit: Emit): void {
  Object.defineProperty(emitter, 'emit', { configurable: true, writable: true, value: emit });
}
