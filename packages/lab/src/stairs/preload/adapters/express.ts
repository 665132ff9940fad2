import type { ServerResponse } from 'node:http';
import { isInert, type StairsState, type WatchedResponse } from '../state.ts';

type Handler = (this: unknown, ...args: unknown[]) => unknown;

interface Layer {
  handle: Handler;
  name: string;
  /** Set on the layer that leads to the handlers of a route. */
  route?: unknown;
}

type LayerClass = new (path: unknown, options: unknown, handler: Handler) => Layer;

type Done = (error?: unknown) => void;

/** Express 4 and 5 put every middleware, router and handler into a Layer. */
export function adaptExpress(state: StairsState): (layers: { prototype: object }) => void {
  return ({ prototype }) => {
    // An ended request goes no further when it comes back as an error, say by way of `.catch(next)`.
    for (const name of ['handle_error', 'handleError']) {
      const handle = (prototype as Record<string, Handler | undefined>)[name];
      if (handle === undefined) continue;
      (prototype as Record<string, Handler>)[name] = function (this: unknown, ...args): unknown {
        if ((args[2] as WatchedResponse)[isInert]) return state.leave();
        return handle.apply(this, args);
      };
    }
    // Express 4, then 5.
    for (const name of ['handle_request', 'handleRequest']) {
      const handle = (prototype as Record<string, Handler | undefined>)[name];
      if (handle === undefined) continue;
      const seen = new WeakSet<object>();
      (prototype as Record<string, Handler>)[name] = function (this: unknown): unknown {
        const layer = this as InstanceType<LayerClass>;
        if (!seen.has(layer)) {
          seen.add(layer);
          makeStage(state, layer);
        }
        // oxlint-disable-next-line prefer-rest-params
        return handle.apply(this, arguments as never);
      };
    }
  };
}

/** What Express does with an error nobody handled: it would close the connection of an ended request. */
export function adaptFinalHandler(
  state: StairsState,
): (make: (...args: unknown[]) => Done) => (...args: unknown[]) => Done {
  return (make) =>
    (...args) => {
      const done = make(...args);
      const response = args[1] as ServerResponse & WatchedResponse;
      return (error) => (response[isInert] ? state.leave() : done(error));
    };
}

function makeStage(state: StairsState, layer: Layer): void {
  const { handle, name } = layer;
  // Not a request handler: it has a parameter for the error.
  if (handle.length > 3) return;
  const isRoute = layer.route !== undefined && layer.route !== null;
  layer.handle = state.stage(
    isRoute ? 'handler' : 'middleware',
    isRoute ? 'route' : readable(name),
    handle,
    'return',
  );
}

function readable(name: string): string {
  return name === '<anonymous>' || name === '' ? 'handler' : name;
}
