import { subscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:http';
import module from 'node:module';

type Method = (this: unknown, ...args: unknown[]) => unknown;

interface Layer {
  /** Express 4: the path it is mounted at. */
  regexp?: RegExp;
  handle?: unknown;
  route?: { path?: unknown; methods?: Record<string, boolean> };
}

interface ExpressRouter {
  stack?: Layer[];
}

interface KoaRouter {
  stack?: { path?: unknown; methods?: string[] }[];
}

const fastifyRoutes = new Set<string>();
const fastifyApps = new Set<{ server?: Server }>();
let hasKoa = false;
const koaRouters = new Set<KoaRouter>();
/** Where a router of Express 5 is mounted: its layers keep no text of it. */
const mountedAt = new WeakMap<Layer, string>();

/** Modules as they are asked for. An ES module asks for the whole path of a file, as that of Koa does for its own. */
const watched: [pattern: RegExp, remember: (exported: object) => void][] = [
  [/(^|[\\/])router$/, rememberMounts],
  [/(^|[\\/])koa([\\/]lib[\\/]application(\.js)?)?$/, rememberRouters],
];

/** From here on frameworks that are loaded show their GET routes. */
export function watchRoutes(): void {
  subscribe('fastify.initialization', (message) => {
    const { fastify } = message as { fastify: { addHook: Method; server?: Server } };
    fastifyApps.add(fastify);
    fastify.addHook('onRoute', (options: { method: string | string[]; url: string }) => {
      if ([options.method].flat().includes('GET')) fastifyRoutes.add(options.url);
    });
  });
  const commonJs = module as unknown as { _load: Method };
  const { _load: load } = commonJs;
  const seen = new WeakSet<object>();
  commonJs._load = function (request, ...rest) {
    const loaded = load.call(this, request, ...rest);
    const name = String(request);
    if (typeof loaded !== 'function' && typeof loaded !== 'object') return loaded;
    if (loaded === null || seen.has(loaded)) return loaded;
    const [, remember] = watched.find(([pattern]) => pattern.test(name)) ?? [];
    if (remember === undefined) return loaded;
    seen.add(loaded);
    remember(loaded);
    return loaded;
  };
}

/** GET routes of a server, as its framework writes them. */
export function routesOf(server: Server): string[] {
  const listeners = server.listeners('request') as unknown[];
  const found = [
    ...listeners.flatMap((listener) => expressRoutes(listener)),
    ...[...koaRouters].flatMap(koaRoutes),
    ...fastifyRoutes,
  ];
  return [...new Set(found)];
}

/** What a server's requests are handled by, by its listeners: a package that is merely installed serves nothing. */
export function frameworkOf(server: Server): string | undefined {
  if ([...fastifyApps].some((app) => app.server === server)) return 'Fastify';
  const listeners = server.listeners('request') as (Function & Record<string, unknown>)[];
  const isExpress = listeners.some(
    (each) => typeof each['handle'] === 'function' && typeof each['set'] === 'function',
  );
  if (isExpress) return 'Express';
  return hasKoa && listeners.some(({ name }) => name === 'handleRequest') ? 'Koa' : undefined;
}

/** Express 4 exports what its routers inherit from, and the `router` of Express 5 the class. */
function rememberMounts(exported: object): void {
  const given = exported as { use?: unknown; prototype?: { use?: unknown } };
  const owner = typeof given.use === 'function' ? given : given.prototype;
  if (typeof owner?.use !== 'function' || !('param' in owner)) return;
  const use = owner.use as Method;
  owner.use = function (this: ExpressRouter, ...args: unknown[]): unknown {
    const before = this.stack?.length ?? 0;
    const result = use.apply(this, args);
    const [path] = args;
    for (const layer of this.stack?.slice(before) ?? []) {
      mountedAt.set(layer, typeof path === 'string' ? path : '');
    }
    return result;
  };
}

/** What a router of Koa hands to `use` has the router with it, whichever package and module system it comes from. */
function rememberRouters(exported: object): void {
  const { prototype: koa } = exported as { prototype?: { use?: Method; callback?: unknown } };
  if (typeof koa?.use !== 'function' || typeof koa.callback !== 'function') return;
  const { use } = koa;
  hasKoa = true;
  koa.use = function (middleware, ...rest) {
    const { router } = middleware as { router?: KoaRouter };
    if (Array.isArray(router?.stack)) koaRouters.add(router);
    return use.call(this, middleware, ...rest);
  };
}

function expressRoutes(listener: unknown): string[] {
  if (typeof listener !== 'function') return [];
  const app = listener as { _router?: ExpressRouter; router?: ExpressRouter; stack?: Layer[] };
  try {
    // Express 4 throws when it is asked for `router`.
    const router = app._router ?? app.router ?? app;
    return inRouter(router, '');
  } catch {
    return [];
  }
}

function inRouter({ stack }: ExpressRouter, prefix: string): string[] {
  return (stack ?? []).flatMap((layer): string[] => {
    const { route, handle } = layer;
    if (route !== undefined) {
      if (route.methods?.['get'] !== true) return [];
      return [route.path]
        .flat()
        .filter((path): path is string => typeof path === 'string')
        .map((path) => joined(prefix, path));
    }
    if (typeof handle !== 'function' || !('stack' in handle)) return [];
    return inRouter(handle as ExpressRouter, joined(prefix, mountedAt.get(layer) ?? ''));
  });
}

function koaRoutes({ stack }: KoaRouter): string[] {
  return (stack ?? []).flatMap(({ path, methods }) =>
    typeof path === 'string' && methods?.includes('GET') ? [path] : [],
  );
}

function joined(prefix: string, path: string): string {
  const whole = `${prefix.replace(/\/$/, '')}/${path.replace(/^\//, '')}`;
  return whole.length > 1 ? whole.replace(/\/$/, '') : whole;
}
