import type { IncomingMessage } from 'node:http';

// Parts of Koa, and of @koa/router.
interface Koa {
  readonly prototype: {
    createContext?(this: unknown, request: KoaRequest, ...others: unknown[]): KoaContext;
    [kIsWrapped]?: boolean;
  };
}

interface KoaContext {
  readonly _matchedRoute?: unknown;
}

const kContext: unique symbol = Symbol('context');
const kIsWrapped: unique symbol = Symbol('isWrapped');

/** A request that may be Koa's. */
export type KoaRequest = IncomingMessage & { [kContext]?: KoaContext };

/** Remembers the context of each request of Koa: its router writes the route there. */
export function rememberContexts(koa: unknown): void {
  const { prototype } = koa as Koa;
  const createContext = prototype?.createContext;
  if (createContext === undefined || Object.hasOwn(prototype, kIsWrapped)) return;
  Object.defineProperty(prototype, kIsWrapped, { value: true });
  prototype.createContext = function (request, ...others) {
    const context = createContext.call(this, request, ...others);
    request[kContext] = context;
    return context;
  };
}

/** Returns the path of the route that @koa/router has chosen. */
export function koaRouteOf(request: KoaRequest): string | undefined {
  const matched = request[kContext]?._matchedRoute;
  return matched === undefined ? undefined : String(matched);
}
