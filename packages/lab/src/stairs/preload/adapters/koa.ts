import type { StairsState } from '../state.ts';

interface KoaContext {
  onerror: (this: unknown, error: unknown) => unknown;
}

type Middleware = (this: unknown, ...args: unknown[]) => unknown;

/** Makes stages of all middleware, which Koa receives through `use`. */
export function adaptKoa(state: StairsState): (application: { prototype: object }) => void {
  return ({ prototype }) => {
    const koa = prototype as { use: (this: unknown, middleware: Middleware) => unknown };
    const { use } = koa;
    const known = new WeakSet<object>();
    koa.use = function (middleware) {
      if (!known.has(this as object)) {
        known.add(this as object);
        ignoreEnded(state, (this as { context: KoaContext }).context);
      }
      const isFunction = typeof middleware === 'function';
      const name = (isFunction && middleware.name) || 'middleware';
      return use.call(
        this,
        isFunction ? state.stage('middleware', name, middleware, 'throw') : middleware,
      );
    };
  };
}

/** Ignores ended requests in `onerror`, which is called for every failed request, and so for every ended one. */
function ignoreEnded(state: StairsState, context: KoaContext): void {
  const { onerror } = context;
  const handle: KoaContext['onerror'] = function (this: unknown, error) {
    if (error !== null && error !== undefined && state.isOver(error)) return state.leave();
    return onerror.call(this, error);
  };
  Object.assign(context, { onerror: handle });
}
