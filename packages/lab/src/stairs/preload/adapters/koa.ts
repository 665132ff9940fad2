import type { StairsState } from '../state.ts';

type Middleware = (this: unknown, ...args: unknown[]) => unknown;

/** Koa takes everything in through `use`. */
export function adaptKoa(state: StairsState): (application: { prototype: object }) => void {
  return ({ prototype }) => {
    const koa = prototype as { use: (this: unknown, middleware: Middleware) => unknown };
    const { use } = koa;
    koa.use = function (middleware) {
      const isFunction = typeof middleware === 'function';
      const name = (isFunction && middleware.name) || 'middleware';
      return use.call(this, isFunction ? state.stage('middleware', name, middleware) : middleware);
    };
  };
}
