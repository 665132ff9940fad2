import type { CacheEvent } from './events.ts';

/** Counters since the cache was made. Each answer counts once in `hits`, `stale`, `misses`, `bypasses` or `shared`. */
export interface JsonCacheStats {
  /** Answers out of the store. */
  readonly hits: number;
  /** Answers out of the store whose time was up, given while a new one was being made or since making it failed. */
  readonly stale: number;
  /** Answers made by a producer, because the store had none. */
  readonly misses: number;
  /** Answers made by a producer without asking the store, because it was down. */
  readonly bypasses: number;
  /** Answers made by the producer of another caller who asked for the same key at the same time. */
  readonly shared: number;
  /** Stored values that were not JSON. Each was a miss, too. */
  readonly invalid: number;
  /** Answers found that an invalidation of one of their tags had reached. Each was a miss, too. */
  readonly invalidated: number;
  /** Answers that a producer kept for its own caller with `unshared`. */
  readonly unshared: number;
  /** Values the store has taken. */
  readonly stores: number;
  /** Values the store has refused. */
  readonly storeErrors: number;
}

export type Counters = { -readonly [name in keyof JsonCacheStats]: number };

/** Counts what became of one question, and tells who listens. */
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
  };
}
