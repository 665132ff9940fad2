import { channel, type Channel } from 'node:diagnostics_channel';

export type CacheEvent = 'hits' | 'stale' | 'misses' | 'bypasses' | 'drop' | 'outage' | 'recovery';

const channels: Readonly<Record<CacheEvent, Channel>> = {
  hits: channel('redline:response-cache:hit'),
  stale: channel('redline:response-cache:stale'),
  misses: channel('redline:response-cache:miss'),
  bypasses: channel('redline:response-cache:bypass'),
  drop: channel('redline:response-cache:drop'),
  outage: channel('redline:response-cache:outage'),
  recovery: channel('redline:response-cache:recovery'),
};

/** The message to subscribers of the node:diagnostics_channel channels. */
export interface CacheMessage {
  /** The `name` of the cache. */
  readonly cache: string;
  /** The key; the comma-separated tags of an invalidation; the reason of an outage; its duration. */
  readonly about: string;
}

export function publishEvent(event: CacheEvent, cache: string, about: string): void {
  const to = channels[event];
  if (to.hasSubscribers) to.publish({ cache, about } satisfies CacheMessage);
}

/**
 * Counters since the cache was created. Each response counts once in `hits`, `stale`, `misses`, `bypasses` or `shared`.
 */
export interface JsonCacheStats {
  /** Responses from the store. */
  readonly hits: number;
  /** Responses from the store past their ttl, sent while a new one was being made or after that failed. */
  readonly stale: number;
  /** Responses made by a producer, because the store had none. */
  readonly misses: number;
  /** Responses made by a producer without using the store, because it was down. */
  readonly bypasses: number;
  /** Responses made by the producer of another caller for the same key at the same time. */
  readonly shared: number;
  /** Stored values that were not JSON. Each was a miss, too. */
  readonly invalid: number;
  /** Responses found invalidated by one of their tags. Each was a miss, too. */
  readonly invalidated: number;
  /** Responses that a producer kept for its own caller with `unshared`. */
  readonly unshared: number;
  /** Values written to the store. */
  readonly stores: number;
  /** Writes the store refused: of values, deletions and invalidations. */
  readonly storeErrors: number;
  /** Responses that were given to the HTTP engine to keep: it counts their hits itself. */
  readonly engineKept: number;
}

export type Counters = { -readonly [name in keyof JsonCacheStats]: number };

/** The counters of a cache, and the function that counts an outcome. */
export interface Tally {
  readonly counters: Counters;
  readonly count: Count;
}

/** Counts the outcome of one lookup, and notifies subscribers. */
export type Count = (what: CacheEvent & keyof Counters, key: string) => void;

export function zeroCounters(): Counters {
  return {
    hits: 0,
    stale: 0,
    misses: 0,
    bypasses: 0,
    shared: 0,
    invalid: 0,
    invalidated: 0,
    unshared: 0,
    stores: 0,
    storeErrors: 0,
    engineKept: 0,
  };
}
