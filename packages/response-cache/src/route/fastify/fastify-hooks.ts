import { lookAround, type Around } from '../hit-placement.ts';

/** The lists of hooks of a Fastify instance that are read here. */
interface Hooks {
  readonly onRequest: readonly unknown[];
  readonly preParsing: readonly unknown[];
  readonly preValidation: readonly unknown[];
  readonly preHandler: readonly unknown[];
  readonly onResponse: readonly unknown[];
}

type OfRoute = { readonly [name in keyof Hooks]?: unknown };

const between = ['preParsing', 'preValidation', 'preHandler'] as const;

/** The names of the hooks that run for a route. */
export interface RouteHooks {
  /** Between the hook of the cache and the handler. */
  readonly between: readonly string[];
  /** On each request, before the hook of the cache or after the response. */
  readonly around: Around;
}

/**
 * Returns the hooks around `own`, the hook of the cache in `onRequest` of `route`; undefined if this Fastify keeps its hooks
 * elsewhere. To be called once all plugins are loaded.
 *
 * @param isHarmless true for hooks that are known to let every request pass
 */
export function hooksOf(
  instance: object,
  route: OfRoute,
  own: unknown,
  isHarmless: (hook: unknown) => boolean = () => false,
): RouteHooks | undefined {
  const symbol = Object.getOwnPropertySymbols(instance).find(
    ({ description }) => description === 'fastify.hooks',
  );
  // An encapsulated instance inherits from its parent, but has hooks of its own.
  const hooks = symbol && ((instance as Record<symbol, unknown>)[symbol] as Hooks);
  if (hooks === undefined || !Array.isArray(hooks.onRequest)) return undefined;
  const look = (of: readonly unknown[]): Around =>
    lookAround(of.filter((hook) => !isHarmless(hook) && !isOfCompress(hook)));
  const ofRoute = listOf(route.onRequest);
  const at = ofRoute.indexOf(own);
  return {
    between: look([
      ...ofRoute.slice(at + 1),
      ...between.flatMap((name) => [...hooks[name], ...listOf(route[name])]),
    ]).deciding,
    around: look([
      ...hooks.onRequest,
      ...ofRoute.slice(0, at),
      ...hooks.onResponse,
      ...listOf(route.onResponse),
    ]),
  };
}

/*
 * @fastify/compress gives each route a hook that decompresses request bodies. A request with a body does not use the cache, and
 * every other passes. The hook has no mark, so it is recognised by its source.
 */
function isOfCompress(hook: unknown): boolean {
  if (typeof hook !== 'function' || hook.name !== 'preParsing') return false;
  const source = String(hook);
  return source.includes("headers['content-encoding']") && source.includes('forceEncoding');
}

function listOf(hooks: unknown): readonly unknown[] {
  return hooks === undefined ? [] : Array.isArray(hooks) ? hooks : [hooks];
}
