import type { IncomingHttpHeaders } from 'node:http';
import type { AnswerOptions } from '../answer/answer-options.ts';
import {
  resolveCompress,
  type CompressOptions,
  type Compression,
} from '../encoding/compress-options.ts';
import type { JsonCache } from '../cache/json-cache.ts';
import { AheadOfRoute } from './reads/ahead.ts';
import { isHead } from './kept-head.ts';
import type { CachePolicy, Identify, Place, Cookies, ReadsMeaning } from './policy.ts';
import type { ResponsePort } from './response-port.ts';

/** The parts of a framework's request by which the cache distinguishes requests and callers. */
export interface CacheRequest {
  readonly method: string;
  readonly originalUrl: string;
  /** Differs from `originalUrl` if something ahead of the router has rewritten it. */
  readonly url?: string | undefined;
  /** The prefix that routers of Express have removed from `url`. */
  readonly baseUrl?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Set by guards and Passport once they know the caller. */
  readonly user?: unknown;
}

/** Headers in which a response reports on the cache. */
export type CacheHeader = 'x-cache' | 'age' | 'etag';

/** Settings for all routes of an app. */
export interface RouteDefaults {
  /**
   * The hosts of the app. With a list, a request for another host does not use the cache; with `'any'`, all of them
   * share their responses, so no response may depend on the host or on the protocol, as absolute links do.
   * @default each host has its own responses, and so has https behind a proxy
   */
  hosts?: 'any' | readonly string[];
  /**
   * For routes that do not set it.
   * @default 'private'
   */
  cookies?: Cookies;
  /**
   * For routes that do not set it.
   * @default 'observed'
   */
  reads?: ReadsMeaning;
  /**
   * For routes that do not set it.
   * @default false
   */
  compress?: boolean | CompressOptions;
  /**
   * Headers of cached routes: `x-cache` is `HIT`, `STALE`, `MISS`, or `BYPASS` if the cache was not used; `age` is the
   * age of the response in seconds; with `etag`, requests with `If-None-Match` can get a 304.
   * @default []
   */
  headers?: readonly CacheHeader[];
}

/** Rules for the key of a response. */
export interface KeyRules {
  readonly name: string;
  readonly key: string | ((request: CacheRequest) => string | undefined) | undefined;
  readonly identify: Identify<CacheRequest> | undefined;
  readonly cookies: Cookies;
  readonly query: ReadonlySet<string> | undefined;
  /** In lower case. It grows by the names in the `Vary` of responses. */
  readonly vary: string[];
  readonly hosts: 'any' | readonly string[] | undefined;
  /** Precedes the URL in the key if several handlers serve one URL. */
  readonly version: string | ((request: CacheRequest) => string);
}

/** A cached route, as known before its first request. */
export interface CachedRoute extends KeyRules {
  readonly cache: JsonCache;
  readonly ttl: CachePolicy<CacheRequest>['ttl'];
  readonly stale: number | undefined;
  readonly early: boolean | undefined;
  readonly renew: 'behind' | undefined;
  readonly patience: number | undefined;
  /** True if requests of the cache's own renew its responses. */
  readonly renewsBehind: boolean;
  readonly tags: CachePolicy<CacheRequest>['tags'];
  readonly headers: ReadonlySet<CacheHeader>;
  /** Undefined if responses are sent uncompressed. */
  readonly compression: Compression | undefined;
  readonly at: Place;
  readonly guards: 'skipped' | undefined;
  /** True if the reads of a handler are observed while it makes a response. */
  readonly isObserved: boolean;
  /** Request headers, in lower case, that `version` has read. */
  readonly versionHeaders: readonly string[];
  /** The reads of handlers so far, other than those of the URL and the host. */
  readonly reads: Set<string>;
  /** Request headers, in lower case, whose further reads change nothing. */
  readonly ignorableReads: Set<string>;
  /** The code that runs ahead of the cache, such as middleware and guards. */
  readonly ahead: AheadOfRoute;
  /** True once a handler has read a property that something ahead of the cache has set. */
  readsProperties: boolean;
  /** True once a handler, or a getter of the protocol, has read the address of the client. */
  readsPeer: boolean;
  /** Called once `vary` has grown. */
  onVaryGrown: (() => void) | undefined;
  /** Logs why a response is not kept, once for each reason. */
  warnOnce(reason: string): undefined;
}

/** Settings that the cached routes of an app share. */
export interface CachedApp {
  readonly cache: JsonCache;
  readonly defaults: RouteDefaults;
  readonly warn: (line: string) => void;
}

/** Returns the route of a policy, with defaults for everything else. */
export function cachedRoute(
  name: string,
  policy: CachePolicy<CacheRequest>,
  { cache, defaults, warn }: CachedApp,
): CachedRoute {
  const warned = new Set<string>();
  const isObserved = (policy.reads ?? defaults.reads ?? 'observed') === 'observed';
  const reads = new Set<string>();
  listRoute(name, reads);
  return {
    name,
    key: policy.key,
    identify: policy.identify,
    cookies: policy.cookies ?? defaults.cookies ?? 'private',
    query: policy.query === undefined ? undefined : new Set(policy.query),
    vary: (policy.vary ?? []).map((header) => header.toLowerCase()),
    hosts: defaults.hosts,
    version: '',
    cache,
    ttl: policy.ttl,
    stale: policy.stale,
    early: policy.early,
    renew: policy.renew,
    patience: policy.patience,
    renewsBehind: policy.renew !== undefined || policy.patience !== undefined,
    tags: policy.tags,
    headers: new Set(defaults.headers),
    compression: resolveCompress(policy.compress ?? defaults.compress),
    at: policy.at ?? 'handler',
    guards: policy.guards,
    isObserved,
    versionHeaders: [],
    reads,
    ignorableReads: new Set(),
    ahead: new AheadOfRoute(isObserved),
    readsProperties: false,
    readsPeer: false,
    onVaryGrown: undefined,
    warnOnce(reason) {
      if (warned.has(reason)) return;
      warned.add(reason);
      warn(`A response of ${name} goes out uncached: ${reason}.`);
    },
  };
}

/* Requests for which `peek` found a renewal due: that decision is random, and is made only once. */
const renewing = new WeakSet<object>();

export function renewsEarly(request: object): void {
  renewing.add(request);
}

/** Returns the options for looking up and keeping the responses of `route`. */
export function answerOptions(route: CachedRoute, request: object): AnswerOptions {
  return {
    ttl: typeof route.ttl === 'number' ? route.ttl : undefined,
    stale: route.stale,
    early: route.early === true && renewing.has(request) ? 'now' : route.early,
    tags: route.tags === undefined ? undefined : true,
    // Tags from a function are known only with the response.
    leastTags: typeof route.tags === 'function' ? undefined : route.tags,
    // A copy outside the store has to know which response it holds, and how long it may keep it.
    dated: route.headers.size > 0 || route.at === 'engine' || route.compression !== undefined,
    name: route.name,
    isHead,
  };
}

/** A cached route and the reads that its responses depend on, as `redline doctor` reads them in the process of the app. */
interface ListedRoute {
  readonly name: string;
  readonly reads: WeakRef<ReadonlySet<string>>;
}

const kRoutes = Symbol.for('redline.cachedRoutes');

/** Lists a route for as long as something else holds `reads`. */
export function listRoute(name: string, reads: ReadonlySet<string>): void {
  const listed = ((globalThis as Record<symbol, unknown>)[kRoutes] ??= []) as ListedRoute[];
  listed.push({ name, reads: new WeakRef(reads) });
}

/** A request of a cached route, and the response to it. */
export interface Exchange {
  readonly route: CachedRoute;
  readonly request: CacheRequest;
  readonly key: string;
  readonly response: unknown;
  /** The operations of the framework on `response`. */
  readonly responses: ResponsePort<unknown>;
}
