import { CacheError } from '../errors.ts';
import type { Place } from './policy.ts';
import type { CachedRoute } from './cached-route.ts';
import { engineAnswersOf, engineStoreOf, EngineOffers, type Revalidates } from './engine-store.ts';

/** The place that serves the hits of a route, and the reason if that is not the wanted one. */
export interface Placement {
  readonly at: Place;
  readonly reason: string | undefined;
}

const words: Readonly<Record<Place, string>> = {
  engine: 'by the engine',
  hook: 'by the hook',
  handler: 'in place of the handler',
};

/** Returns the log line at start. */
export function placeLine({ name, at: wanted }: CachedRoute, { at, reason }: Placement): string {
  const why = reason === undefined ? '' : `, not ${words[wanted]}: ${reason}`;
  return `Hits of ${name} are answered ${words[at]}${why}.`;
}

/**
 * Marks a hook or a middleware that lets every request pass, and does nothing to a response that it would not do to every
 * other: hits may be served ahead of it. `'logs'` if it writes a line for each request.
 */
export const passesAll: unique symbol = Symbol.for('redline.passes-all') as never;

type Marked = { readonly [passesAll]?: true | 'logs'; readonly name?: string } | undefined;

/** The functions that run around the hook of the cache. */
export interface Around {
  /** Names of those that may decide about the receiver or the content of a response. */
  readonly deciding: readonly string[];
  readonly logs: boolean;
}

export function lookAround(functions: readonly unknown[]): Around {
  const marked = functions as readonly Marked[];
  return {
    deciding: marked
      .filter((each) => each?.[passesAll] === undefined)
      .map((each) => each?.name || 'one without a name'),
    logs: marked.some((each) => each?.[passesAll] === 'logs'),
  };
}

/** @throws {CacheError} ERR_REDLINE_CACHE_GUARD */
export function refuseGuards({ name, at, guards }: CachedRoute, skipped: readonly string[]): void {
  if (at === 'handler' || guards === 'skipped' || skipped.length === 0) return;
  throw new CacheError(
    'ERR_REDLINE_CACHE_GUARD',
    `${name} has at: '${at}', but ${skipped.join(', ')} would not run on hits, so every caller would get them. Set guards: 'skipped' if everybody may, otherwise at: 'handler'.`,
  );
}

/** @throws {CacheError} ERR_REDLINE_CACHE_OPTION */
export function requireTags({ name, tags, cache }: CachedRoute): void {
  if (tags === undefined || cache.hasTags) return;
  throw new CacheError(
    'ERR_REDLINE_CACHE_OPTION',
    `${name} has tags, but the store of its cache does not support them: use memoryStore or redisStore, or implement tags in your JsonStore.`,
  );
}

/** Returns the reason why the hook cannot serve the route. */
export function hookObstacle(
  { identify, key, guards }: CachedRoute,
  skipped: readonly string[],
): string | undefined {
  if (guards !== 'skipped' || skipped.length === 0) return undefined;
  const isFunction = typeof identify === 'function' || typeof key === 'function';
  if (!isFunction) return undefined;
  const option = typeof identify === 'function' ? 'identify' : 'key';
  return `${option} is a function, which may read what ${skipped.join(', ')} finds out; name a header or a cookie`;
}

/** The server and the framework that serve the route. */
export interface Serving {
  readonly server: object | undefined;
  /** Returns true if the framework itself handles `If-None-Match`; by default it does not. */
  readonly revalidates: Revalidates | undefined;
  readonly warn: (line: string) => void;
}

/**
 * Returns the offers of the route to the engine, or the reason why the engine cannot serve it.
 *
 * @param around the functions that run before the hook, or after the response
 */
export function engineOffers(
  route: CachedRoute,
  { server, revalidates = () => false, warn }: Serving,
  { deciding, logs }: Around,
): EngineOffers | string {
  const { identify, key, headers, guards, cache, early } = route;
  const answers = engineAnswersOf(server);
  if (server === undefined || answers === undefined)
    return 'the server is that of node:http, not that of @redline/http';
  const { maxRequestsPerSocket = 0 } = server as { maxRequestsPerSocket?: number | null };
  if ((maxRequestsPerSocket ?? 0) > 0) return 'maxRequestsPerSocket counts each request';
  if (typeof identify === 'function') return 'identify is a function; name a header or a cookie';
  if (typeof key === 'function') return 'key is a function';
  if (route.version !== '') return 'other routes have its URL, by version or host';
  if (headers.has('age')) return 'the Age header is different each second';
  if (early === true) return 'early renewal is decided by each request';
  if (guards !== 'skipped' && deciding.length > 0)
    return `${deciding.join(', ')} would not run; guards: 'skipped' says that hits do without`;
  if (logs && answers.lines === undefined) return 'JavaScript writes the line of each request';
  if (answers.lines?.obstacle !== undefined) return answers.lines.obstacle;
  const store = engineStoreOf(answers, cache);
  if (store === undefined)
    return 'the store does not tell what other processes change; memoryStore and tieredStore do';
  return new EngineOffers(store, route, { server, revalidates, warn });
}
