import type { RouteTable } from './route-table.ts';

// Parts of Express 4 and 5. Layers of Express since 5.3 have the path they were registered with; on others it is
// remembered when they are registered.
interface Layer {
  readonly route?: Route;
  readonly handle: Handler;
  readonly rawPath?: unknown;
  [kPath]?: unknown;
}

interface Route {
  readonly path: unknown;
}

interface Router {
  readonly stack: readonly Layer[];
}

type Handler = Partial<Router> & Partial<App>;

interface App {
  readonly _router?: Router;
  readonly router?: Router;
  readonly parent?: App;
  readonly mountpath?: unknown;
}

/** A request that may be Express's. */
export interface ExpressRequest {
  readonly route?: Route;
  readonly baseUrl?: string;
  readonly app?: App;
}

/** A place at which a route or a middleware is registered. */
interface Place {
  /** The paths of its routers, joined. */
  readonly mount: string;
  readonly pattern: string;
}

const kPath: unique symbol = Symbol('path');
const kIsWrapped: unique symbol = Symbol('isWrapped');
const MAX_DEPTH = 16;
/** Max number of URLs below which middlewares respond whose patterns are kept. */
const MAX_MOUNTS = 500;

/** Finds the routes of Express. */
export class ExpressRoutes {
  readonly #table: RouteTable;
  readonly #places = new WeakMap<Route, readonly Place[]>();
  readonly #numbers = new WeakMap<Route, number>();
  readonly #mounts = new Map<string, number>();

  constructor(table: RouteTable) {
    this.#table = table;
  }

  /** Returns the number of the route that has handled a request, or of the mounted middleware that responds to it; 0 for neither. */
  numberOf(request: ExpressRequest): number {
    const { route } = request;
    if (route === undefined) return request.baseUrl ? this.#mountOf(request) : 0;
    const known = this.#numbers.get(route);
    if (known !== undefined) return known;
    const places = this.#placesOf(route, request.app);
    const place = places.find(({ mount }) => matches(mount, request.baseUrl ?? '')) ?? places[0];
    if (place === undefined) return 0;
    const number = this.#table.numberOf(place.pattern);
    if (number !== 0 && places.length === 1) this.#numbers.set(route, number);
    return number;
  }

  #placesOf(route: Route, app: App | undefined): readonly Place[] {
    let places = this.#places.get(route);
    if (places === undefined || places.length === 0) {
      places = [];
      collect(app, (layer, paths) => {
        if (layer.route === route) (places as Place[]).push(placeOf(paths, route.path));
      });
      this.#places.set(route, places);
    }
    return places;
  }

  #mountOf({ baseUrl, app }: ExpressRequest): number {
    const known = this.#mounts.get(baseUrl!);
    if (known !== undefined) return known;
    let pattern = '';
    collect(app, (layer, paths) => {
      if (pattern !== '' || layer.route !== undefined) return;
      for (const path of [pathOf(layer)].flat()) {
        const mount = join([...paths, path]);
        if (matches(mount, baseUrl!)) pattern = mount;
      }
    });
    const number = pattern === '' ? 0 : this.#table.numberOf(pattern);
    if (this.#mounts.size < MAX_MOUNTS) this.#mounts.set(baseUrl!, number);
    return number;
  }
}

/** Remembers the paths of `use` on the layers of an Express that does not. */
export function rememberPaths(express: unknown): void {
  const Router = (express as { Router?: unknown }).Router as { prototype?: object } | undefined;
  if (typeof Router !== 'function') return;
  const ofFive = (Router as { prototype?: object }).prototype;
  // A router of Express 4 inherits from the function that makes it.
  const prototype = (ofFive !== undefined && 'route' in ofFive ? ofFive : Router) as {
    use?(this: Router, ...given: unknown[]): unknown;
    [kIsWrapped]?: boolean;
  };
  const { use } = prototype;
  if (typeof use !== 'function' || Object.hasOwn(prototype, kIsWrapped)) return;
  Object.defineProperty(prototype, kIsWrapped, { value: true });
  prototype.use = function (...given) {
    const { length } = this.stack;
    const returned = use.apply(this, given);
    const [first] = [given[0]].flat(Infinity);
    const path = typeof first === 'function' ? '/' : given[0];
    for (const layer of this.stack.slice(length)) layer[kPath] = path;
    return returned;
  };
}

/** Calls back with each layer of an app, and with the paths of the routers around it. */
function collect(
  app: App | undefined,
  each: (layer: Layer, paths: readonly unknown[]) => void,
): void {
  const descend = (stack: readonly Layer[], paths: readonly unknown[]): void => {
    if (paths.length > MAX_DEPTH) return;
    for (const layer of stack) {
      each(layer, paths);
      const inner = stackOf(layer.handle);
      if (inner !== undefined) descend(inner, [...paths, pathOf(layer)]);
    }
  };
  const stack = app && stackOf(app);
  if (stack !== undefined) descend(stack, pathsTo(app!));
}

function stackOf(handler: Handler): readonly Layer[] | undefined {
  try {
    return handler.stack ?? handler._router?.stack ?? handler.router?.stack;
  } catch {
    // The property `router` of an app of Express 4 throws.
    return undefined;
  }
}

/** The paths at which an app is mounted on others. */
function pathsTo(app: App): unknown[] {
  return app.parent === undefined ? [] : [...pathsTo(app.parent), app.mountpath];
}

function pathOf(layer: Layer): unknown {
  return layer[kPath] ?? layer.rawPath ?? '';
}

function placeOf(paths: readonly unknown[], path: unknown): Place {
  return { mount: join(paths), pattern: join([...paths, path]) || '/' };
}

/** Joins paths as `@opentelemetry/instrumentation-express` does, which leaves out those that match everything. */
function join(paths: readonly unknown[]): string {
  const parts = paths.map(text).filter((part) => !/^(?:\/|\/\*|\/\{\*[^}]*\})?$/.test(part));
  const joined = parts.join('').replaceAll(/\/{2,}/g, '/');
  return joined === '' || joined === '*' || /[,\\*[]/.test(joined) || joined.startsWith('/')
    ? joined
    : `/${joined}`;
}

function text(path: unknown): string {
  return Array.isArray(path) ? path.map(text).join(',') : String(path);
}

/** True if a URL may be one of a pattern: as many segments, each equal or not literal. */
function matches(pattern: string, url: string): boolean {
  const expected = pattern.replace(/\/$/, '').split('/');
  const segments = url.replace(/\/$/, '').split('/');
  return (
    expected.length === segments.length &&
    expected.every((part, at) => /[:*({[\\+?]/.test(part) || isAlike(part, segments[at]!))
  );
}

function isAlike(part: string, segment: string): boolean {
  return part.toLowerCase() === segment.toLowerCase();
}
