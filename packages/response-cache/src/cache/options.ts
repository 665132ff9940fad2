import { checkStore, type JsonStore } from '../store/json-store.ts';
import { aLogger, aText, checkValues, refuseUnknown, positiveInteger } from '../validate.ts';
import type { CacheLogger } from '../outages/logger.ts';
import { memoryStore } from '../store/memory-store.ts';

export interface JsonCacheOptions {
  /**
   * Name of the cache in events and metrics.
   * @default 'default'
   */
  name?: string;
  /**
   * Store of the values.
   * @default memoryStore()
   */
  store?: JsonStore;
  /**
   * Lifetime of a response in milliseconds, unless the call sets it.
   * @default 5_000
   */
  ttl?: number;
  /**
   * Prefix of every key, for instance the name and version of the app when several share a store.
   * @default ''
   */
  keyPrefix?: string;
  /**
   * Time limit of a call to the store, in milliseconds. After that the store counts as down, and responses come from
   * their producers until it responds again.
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
  checkValues('JsonCache', options, { name: aText, keyPrefix: aText, logger: aLogger });
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
    store: checkStore('The option store', store),
    ttl: positiveInteger('ttl', ttl),
    keyPrefix,
    timeoutMs: positiveInteger('timeoutMs', timeoutMs),
    logger: logger === false ? undefined : logger,
  };
}
