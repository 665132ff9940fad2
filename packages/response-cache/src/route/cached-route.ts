import type { IncomingHttpHeaders } from 'node:http';
import type { AnswerOptions } from '../answer/flight.ts';
import {
  resolveCompress,
  type CompressOptions,
  type Compression,
} from '../encoding/compress-options.ts';
import type { JsonCache } from '../cache/json-cache.ts';
import { AheadOfRoute } from './ahead.ts';
import { isHead } from './kept-head.ts';
import { listRoute } from './listed-routes.ts';
import type { CachePolicy, Identify, Place } from './policy.ts';
import type { Cookies, ReadsMeaning } from './policy.ts';

/** The parts of a framework's request by which the cache distinguishes requests and callers. */
export interface CacheRequest {
  readonly method: string;
  readonly originalUrl: string;
  /** Another than `originalUrl` where something ahead of the router has rewritten it. */
  readonly url?: string | undefined;
  /** Of Express: what its routers have taken off `url`. */
  readonly baseUrl?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Set by guards and Passport once they know the caller. */
  readonly user?: unknown;
}

/** Headers in which a response reports on the cache. */
export type CacheHeader = 'x-cache' | 'age' | 'etag';

/** What is set for all routes of an app. */
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

/** How the key of a response comes from its request. */
export interface KeyRules {
  readonly name: string;
  readonly key: string | ((request: CacheRequest) => string | undefined) | undefined;
  readonly identify: Identify<CacheRequest> | undefined;
  readonly cookies: Cookies;
  readonly query: ReadonlySet<string> | undefined;
  /** In lower case. It grows by what responses name in their own `Vary`. */
  readonly vary: string[];
  readonly hosts: 'any' | readonly string[] | undefined;
  /** Put before the URL where several handlers answer one. */
  readonly version: string | ((request: CacheRequest) => string);
}

/** What is known of a cached route before its first request. */
export interface CachedRoute extends KeyRules {
  readonly cache: JsonCache;
  readonly ttl: CachePolicy<CacheRequest>['ttl'];
  readonly stale: number | undefined;
  readonly early: boolean | undefined;
  readonly renew: 'behind' | undefined;
  readonly patience: number | undefined;
  /** Whether requests of the cache's own renew its responses. */
  readonly renewsBehind: boolean;
  readonly tags: CachePolicy<CacheRequest>['tags'];
  readonly headers: ReadonlySet<CacheHeader>;
  /** Undefined where responses are sent as they are. */
  readonly compression: Compression | undefined;
  readonly at: Place;
  readonly guards: 'skipped' | undefined;
  /** Whether what a handler reads of its request is observed while it makes a response. */
  readonly isObserved: boolean;
  /** Request headers, in lower case, that `version` has read. */
  readonly versionHeaders: readonly string[];
  /** What handlers have read of requests so far, beside the URL and the host. */
  readonly reads: Set<string>;
  /** What runs ahead of the cache, such as middleware and guards. */
  readonly ahead: AheadOfRoute;
  /** Whether a handler has read a property that something ahead of the cache has set. */
  readsProperties: boolean;
  /** Whether the address of the client was asked for while a response was made: by its handler, or by a getter of the protocol. */
  readsPeer: boolean;
  /** Called once `vary` has grown. */
  onVaryGrown: (() => void) | undefined;
  /** Logs why an answer is not kept, once for each reason. */
  warnOnce(reason: string): undefined;
}

/** What the cached routes of an app share. */
export interface CachedApp {
  readonly cache: JsonCache;
  readonly defaults: RouteDefaults;
  readonly warn: (line: string) => void;
}

/** The route of a policy, where nothing else is known of it. */
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

/* Requests for which `peek` found a renewal due: whether it is was decided there, by chance. */
const renewing = new WeakSet<object>();

export function renewsEarly(request: object): void {
  renewing.add(request);
}

/** How `route` is looked up and kept. */
export function answerOptions(route: CachedRoute, request: object): AnswerOptions {
  return {
    ttl: typeof route.ttl === 'number' ? route.ttl : undefined,
    stale: route.stale,
    early: route.early === true && renewing.has(request) ? 'now' : route.early,
    tags: route.tags === undefined ? undefined : true,
    // Those of a function are known with the response only.
    leastTags: typeof route.tags === 'function' ? undefined : route.tags,
    // A shelf that is not the store's has to know which response it has, and how long it may keep that.
    dated: route.headers.size > 0 || route.at === 'engine' || route.compression !== undefined,
    name: route.name,
    isHead,
  };
}
