import type { StairsState } from '../state.ts';

type Handler = (this: unknown, ...args: unknown[]) => unknown;

interface Layer {
  handle: Handler;
  name: string;
  /** Set on the layer that leads to the handlers of a route. */
  route?: unknown;
}

type LayerClass = new (path: unknown, options: unknown, handler: Handler) => Layer;

/** Express 4 and 5 put every middleware, router and handler into a Layer. */
export function adaptExpress(state: StairsState): (layers: { prototype: object }) => void {
  return ({ prototype }) => {
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

function makeStage(state: StairsState, layer: Layer): void {
  const { handle, name } = layer;
  // Not a request handler: it has a parameter for the error.
  if (handle.length > 3) return;
  const isRoute = layer.route !== undefined && layer.route !== null;
  layer.handle = state.stage(
    isRoute ? 'handler' : 'middleware',
    isRoute ? 'route' : readable(name),
    handle,
  );
}

function readable(name: string): string {
  return name === '<anonymous>' || name === '' ? 'handler' : name;
}
