import type { IncomingHttpHeaders } from 'node:http';
import type { FactoryProvider, ModuleMetadata } from '@nestjs/common';
import { CacheError, type CacheLogger, type JsonStore } from '@redline/response-cache';

/** What an HTTP framework's request must have for the cache to tell requests and callers apart. */
export interface CacheRequest {
  readonly method: string;
  readonly originalUrl: string;
  readonly hostname: string;
  readonly headers: IncomingHttpHeaders;
  /** What guards and Passport put there once they know the caller. */
  readonly user?: unknown;
}

export interface JsonCacheModuleOptions {
  /**
   * Where answers are kept: `memoryStore()`, `redisStore(client)` or a `JsonStore` of your own.
   * @default memoryStore()
   */
  store?: JsonStore;
  /**
   * How long an answer is good for, in milliseconds, where the route does not say.
   * @default 5_000
   */
  ttl?: number;
  /**
   * Put before every key, for instance the name and version of the app when several share a store.
   * @default ''
   */
  keyPrefix?: string;
  /**
   * How long the store may take to answer, in milliseconds. After that it counts as down, and handlers run until
   * it answers again.
   * @default 250
   */
  timeoutMs?: number;
  /**
   * Where an outage of the store is told; false for nowhere.
   * @default Nest's Logger, with the context JsonCache
   */
  logger?: CacheLogger | false;
}

export interface JsonCacheModuleAsyncOptions extends Pick<ModuleMetadata, 'imports'> {
  inject?: FactoryProvider['inject'];
  useFactory: (...dependencies: any[]) => JsonCacheModuleOptions | Promise<JsonCacheModuleOptions>;
}

/** How a route tells callers apart: a name for each, or `'public'` when all of them get the same answer. */
export type Identify<Request> = 'public' | ((request: Request) => string | undefined);

export interface JsonCacheOptions<Request = CacheRequest> {
  /**
   * How long an answer is good for, in milliseconds.
   * @default the `ttl` of the module
   */
  ttl?: number;
  /**
   * What tells one answer from another, when that is not the URL. Two routes with the same key share their answers.
   * @default the URL as it was requested, with its query string
   */
  key?: string | ((request: Request) => string);
  /**
   * Who is asking. Without it, a request with an `Authorization` or `Cookie` header, or for which a guard has set
   * `request.user`, is neither answered from the cache nor stored.
   *
   * A function names the caller, and each name has answers of its own; where it returns undefined or '', that
   * request does not use the cache. `'public'` says that the answer is the same for everyone, whatever they send.
   */
  identify?: Identify<Request>;
}

/**
 * A misspelt option would be a default that nobody asked for.
 *
 * @throws {CacheError} ERR_REDLINE_CACHE_OPTION
 */
export function refuseUnknown(of: string, options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new CacheError(
    'ERR_REDLINE_CACHE_OPTION',
    `${of} has no option "${unknown}"; there are ${known.join(', ')}.`,
  );
}

/** @throws {CacheError} ERR_REDLINE_CACHE_OPTION */
export function checkTtl(ttl: number | undefined): number | undefined {
  if (ttl === undefined || (Number.isSafeInteger(ttl) && ttl > 0)) return ttl;
  throw new CacheError(
    'ERR_REDLINE_CACHE_OPTION',
    `The option ttl must be a whole number of milliseconds above 0, and is ${String(ttl)}.`,
  );
}
