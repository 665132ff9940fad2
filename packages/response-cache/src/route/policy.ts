import type { CompressOptions } from '../encoding/compress-options.ts';

/** Distinguishes callers; see `identify` of {@link CachePolicy}. */
export type Identify<Request> =
  | 'public'
  | { readonly header: string }
  | { readonly cookie: string }
  | ((request: Request) => string | undefined);

/**
 * The place that serves a hit: the HTTP engine, without JavaScript; a hook of the framework that runs as soon as the route
 * is known; or the place of the handler, after everything that runs before it.
 */
export type Place = 'engine' | 'hook' | 'handler';

/**
 * The meaning of a `Cookie` header to a route without `identify`: with `'private'` the request does not use the cache,
 * unless all its cookies are those of well-known analytics; with `'ignore'` cookies do not matter.
 */
export type Cookies = 'ignore' | 'private';

/**
 * The meaning of reads to a route without `identify` and `key` whose handler reads a header, a cookie or the address of the
 * client: with `'observed'` a header is part of the key from then on, and a response that depends on anything else is not kept;
 * with `'ignored'` reads do not matter.
 */
export type ReadsMeaning = 'observed' | 'ignored';

/** Dependencies and lifetime of a response: the same options in every framework. */
export interface CachePolicy<Request> {
  /**
   * Lifetime of a response, in milliseconds. A function sets it for each response when it is made; with 0 the response is
   * not stored.
   * @default the `ttl` of the cache
   */
  ttl?: number | ((request: Request, value: unknown) => number);
  /**
   * Time a response is kept beyond its `ttl`, in milliseconds: one request makes a new one, and all others get the old one
   * meanwhile; so does that request if the handler fails.
   * @default 0
   */
  stale?: number;
  /**
   * `'behind'`: no request waits for a renewal. A request that finds an outdated response within `stale`, or one to be renewed
   * `early`, gets it at once, and a request of the cache's own makes the new one in the background: one for all processes that
   * share the store. It runs through the whole app, with the headers of the one that found the old response.
   * @default that request makes the new one and waits for it
   */
  renew?: 'behind';
  /**
   * Same as `renew: 'behind'`, but the first request to find the outdated response waits for the new one, up to this many
   * milliseconds.
   * @default no limit; with `renew: 'behind'`, 0
   */
  patience?: number;
  /**
   * If true, one request makes a new response shortly before the `ttl` ends: the longer that takes, the earlier (XFetch).
   * @default false
   */
  early?: boolean;
  /** Tags for `invalidate`; a function derives them from the request and the result, when the response is made. */
  tags?: readonly string[] | ((request: Request, value: unknown) => readonly string[]);
  /**
   * The request headers on which a response depends, such as `accept-language`. Those in the `Vary` of a response are
   * added when they occur.
   * @default []
   */
  vary?: readonly string[];
  /**
   * Identifies the caller: `'public'` means that the response is the same for everyone; a header, a cookie or a
   * function names the caller, and each name has its own responses. A request without a name does not use the cache.
   * @default requests with any credentials do not use the cache
   */
  identify?: Identify<Request>;
  /**
   * The key of a response, if that is not host and URL. Two routes with the same key share their responses.
   * @default the requested host and URL, with the query string
   */
  key?: string | ((request: Request) => string);
  /**
   * The parameters of the query string that matter; the others, and their order, do not.
   * @default all of them, in their order
   */
  query?: readonly string[];
  /** @default 'private', or what is set for all routes */
  cookies?: Cookies;
  /** @default 'observed', or what is set for all routes */
  reads?: ReadsMeaning;
  /**
   * Compresses the kept response, once and off the main thread, for clients that accept it. Until it is ready, and on misses,
   * the response is sent uncompressed.
   * @default false, or what is set for all routes
   */
  compress?: boolean | CompressOptions;
  /**
   * The earliest place that may serve a hit. A place that cannot serve a route, or a request, leaves it to the next; a line at
   * start names the place of each route, and the reason if it is a later one.
   * @default 'handler'
   */
  at?: Place;
  /**
   * `'skipped'`: hits are served without the guards of the route, and without the hooks of Fastify between `onRequest` and
   * the handler. An app that has a route with guards, `at` above `'handler'` and without this option does not start.
   */
  guards?: 'skipped';
}
