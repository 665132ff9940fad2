import { CacheError } from './errors.ts';
import type { JsonStore } from './json-store.ts';
import { refuseUnknown } from './known-options.ts';
import { memoryStore } from './memory-store.ts';
import { positiveInteger } from './positive-integer.ts';

/** Gets one line when the store goes down and one when it is available again, e.g. `console`. */
export interface CacheLogger {
  warn(message: string): void;
  log(message: string): void;
}

export interface JsonCacheOptions {
  /**
   * Name of the cache in events and metrics.
   * @default 'default'
   */
  name?: string;
  /**
   * Where values are kept.
   * @default memoryStore()
   */
  store?: JsonStore;
  /**
   * How long a response is valid, in milliseconds, unless the call sets it.
   * @default 5_000
   */
  ttl?: number;
  /**
   * Put before every key, for instance the name and version of the app when several share a store.
   * @default ''
   */
  keyPrefix?: string;
  /**
   * How long a store may take, in milliseconds. After that it counts as down, and responses come from their producers
   * until it responds again.
   * @default 250
   */
  timeoutMs?: number;
  /**
   * Logger for outages; `false` disables it.
   * @default console
   */
  logger?: CacheLogger | false;
}

export interface ResolvedOptions {
  name: string;
  store: JsonStore;
  ttl: number;
  keyPrefix: string;
  timeoutMs: number;
  logger: CacheLogger | undefined;
}

export function resolveOptions(options: JsonCacheOptions): ResolvedOptions {
  refuseUnknown('JsonCache', options, {
    name: true,
    store: true,
    ttl: true,
    keyPrefix: true,
    timeoutMs: true,
    logger: true,
  });
  const {
    name = 'default',
    store = memoryStore(),
    ttl = 5_000,
    keyPrefix = '',
    timeoutMs = 250,
    logger = console,
  } = options;
  return {
    name,
    store: checkStore(store),
    ttl: positiveInteger('ttl', ttl),
    keyPrefix,
    timeoutMs: positiveInteger('timeoutMs', timeoutMs),
    logger: logger === false ? undefined : logger,
  };
}

/* A client of Redis has get and set as well, with other arguments. */
function checkStore(store: JsonStore): JsonStore {
  const { get, set, delete: drop } = (store ?? {}) as Partial<JsonStore>;
  if ([get, set, drop].every((method) => typeof method === 'function')) return store;
  const got = (store as object | null)?.constructor?.name ?? String(store);
  throw new CacheError(
    'ERR_REDLINE_CACHE_OPTION',
    `The option store must have get, set and delete, as memoryStore(), redisStore(client) and tieredStore(client) have; got ${got}.`,
  );
}
