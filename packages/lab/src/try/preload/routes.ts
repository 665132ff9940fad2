import { subscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:http';
import module from 'node:module';

type Method = (this: unknown, ...args: unknown[]) => unknown;

interface Layer {
  /** Express 4: the mount path. */
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
let hasNest = false;
const koaRouters = new Set<KoaRouter>();
/** Mount path of an Express 5 router: its layers do not keep it as text. */
const mountedAt = new WeakMap<Layer, string>();

/** Module specifiers as imported. An ES module may use the full path of a file, as Koa does for its own. */
const watched: [pattern: RegExp, remember: (exported: object) => void][] = [
  [/(^|[\\/])router$/, rememberMounts],
  [/(^|[\\/])koa([\\/]lib[\\/]application(\.js)?)?$/, rememberRouters],
];

const nestCore = /(^|[\\/])@nestjs[\\/]core([\\/]|$)/;

/** Watches the GET routes of all frameworks loaded later. */
export function watchRoutes(): void {
  // Nest 12 consists of ES modules, which `_load` does not see.
  const { registerHooks } = module as { registerHooks?: typeof module.registerHooks };
  registerHooks?.({
    resolve(specifier, context, next) {
      hasNest ||= nestCore.test(specifier);
      return next(specifier, context);
    },
  });
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
    hasNest ||= nestCore.test(name);
    if (typeof loaded !== 'function' && typeof loaded !== 'object') return loaded;
    if (loaded === null || seen.has(loaded)) return loaded;
    const [, remember] = watched.find(([pattern]) => pattern.test(name)) ?? [];
    if (remember === undefined) return loaded;
    seen.add(loaded);
    remember(loaded);
    return loaded;
  };
}

/** Returns the GET routes of a server, in its framework's notation. */
export function routesOf(server: Server): string[] {
  const listeners = server.listeners('request') as unknown[];
  const found = [
    ...listeners.flatMap((listener) => expressRoutes(listener)),
    ...[...koaRouters].flatMap(koaRoutes),
    ...fastifyRoutes,
  ];
  return [...new Set(found)];
}

/** Detects the framework that handles a server's requests by its listeners: an installed package need not serve. */
export function frameworkOf(server: Server): string | undefined {
  const platform = platformOf(server);
  return hasNest && /^(Express|Fastify)$/.test(platform ?? '') ? `Nest on ${platform}` : platform;
}

function platformOf(server: Server): string | undefined {
  if ([...fastifyApps].some((app) => app.server === server)) return 'Fastify';
  const listeners = server.listeners('request') as (Function & Record<string, unknown>)[];
  const isExpress = listeners.some(
    (each) => typeof each['handle'] === 'function' && typeof each['set'] === 'function',
  );
  if (isExpress) return 'Express';
  return hasKoa && listeners.some(({ name }) => name === 'handleRequest') ? 'Koa' : undefined;
}

/** Records mount paths. Express 4 exports the prototype of its routers, and the `router` package of Express 5 exports the class. */
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

/**
 * Records Koa routers: the middleware that a router passes to `use` refers to it, whichever package and module system it comes
 * from.
 */
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
    // In Express 4, the getter `router` throws.
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
