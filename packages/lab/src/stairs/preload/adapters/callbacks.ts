import { fileURLToPath } from 'node:url';
import type { StairsState } from '../state.ts';

type Method = (this: unknown, ...args: unknown[]) => unknown;

/** Path of this file as it appears in stacks. */
export const callbacksFile: string = fileURLToPath(import.meta.url);

/**
 * Runs database callbacks in the context of their request. The client calls them when its socket has data, and the socket was
 * opened for an earlier request or for none.
 */
export function adaptCallbacks(
  state: StairsState,
): (client: { prototype: object }, names: readonly string[]) => void {
  return ({ prototype }, names) => {
    const methods = prototype as Record<string, Method>;
    for (const name of names) {
      const method = methods[name];
      if (method === undefined) continue;
      methods[name] = function (this: unknown, ...args) {
        const last = args.length - 1;
        if (typeof args[last] === 'function') args[last] = bound(state, args[last] as Method);
        return method.apply(this, args);
      };
    }
  };
}

function bound({ responses }: StairsState, callback: Method): Method {
  const response = responses.getStore();
  if (response === undefined) return callback;
  return function (this: unknown, ...args) {
    return responses.getStore() === response
      ? callback.apply(this, args)
      : responses.run(response, () => callback.apply(this, args));
  };
}
