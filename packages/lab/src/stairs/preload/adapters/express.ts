import type { ServerResponse } from 'node:http';
import { hasEndedEarly, type StairsState, type WatchedResponse } from '../state.ts';

type Handler = (this: unknown, ...args: unknown[]) => unknown;

interface Layer {
  handle: Handler;
  name: string;
  /** Set on the layer that leads to the handlers of a route. */
  route?: Route;
}

interface Route {
  path: unknown;
  methods?: Record<string, boolean>;
}

type LayerClass = (new (path: unknown, options: unknown, handler: Handler) => Layer) & {
  prototype: object;
};

type Done = (error?: unknown) => void;

/** Makes stages of Express 4 and 5, which put every middleware, router and handler into a Layer. */
export function adaptExpress(state: StairsState): (layers: LayerClass) => LayerClass {
  return (layers) => {
    const { prototype } = layers;
    const paths = new WeakMap<object, unknown>();
    // An ended request stops here when it comes back as an error, e.g. through `.catch(next)`.
    for (const name of ['handle_error', 'handleError']) {
      const handle = (prototype as Record<string, Handler | undefined>)[name];
      if (handle === undefined) continue;
      (prototype as Record<string, Handler>)[name] = function (this: unknown, ...args): unknown {
        if ((args[2] as WatchedResponse)[hasEndedEarly]) return state.leave();
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
          makeStage(state, layer, paths.get(layer));
        }
        // oxlint-disable-next-line prefer-rest-params
        return handle.apply(this, arguments as never);
      };
    }
    // Some versions of a layer do not keep their path.
    return new Proxy(layers, {
      construct(target, [path, ...rest]: [unknown, unknown, Handler]) {
        const layer = new target(path, ...rest);
        paths.set(layer, path);
        return layer;
      },
    });
  };
}

/** Suppresses Express's handling of uncaught errors for ended requests: it would close the connection. */
export function adaptFinalHandler(
  state: StairsState,
): (make: (...args: unknown[]) => Done) => (...args: unknown[]) => Done {
  return (make) =>
    (...args) => {
      const done = make(...args);
      const response = args[1] as ServerResponse & WatchedResponse;
      return (error) => (response[hasEndedEarly] ? state.leave() : done(error));
    };
}

function makeStage(state: StairsState, layer: Layer, path: unknown): void {
  const { handle, name, route } = layer;
  // Not a request handler: it has a parameter for the error.
  if (handle.length > 3) return;
  layer.handle = route
    ? state.stage('handler', nameOfRoute(route), handle, 'return')
    : state.stage('middleware', mounted(readable(name), path), handle, 'return');
}

function readable(name: string): string {
  return name === '<anonymous>' || name === '' ? 'handler' : name;
}

/** Adds the mount path to the name, as all routers have the same name. */
function mounted(name: string, path: unknown): string {
  const given = textOf(path);
  if (given === '' || given === '/') return name;
  if (name === 'router') return `router ${given}`;
  return name === 'mounted_app' ? `app ${given}` : name;
}

/** Formats `GET /:slug`, as the router stores it. */
function nameOfRoute({ path, methods = {} }: Route): string {
  const asked = Object.keys(methods).filter((method) => !method.startsWith('_'));
  const given = textOf(path);
  if (given === '') return 'route';
  return asked.length === 1 ? `${asked[0]!.toUpperCase()} ${given}` : `route ${given}`;
}

function textOf(path: unknown): string {
  return [path ?? ''].flat().map(String).join(', ');
}
