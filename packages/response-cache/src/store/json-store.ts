import type { Lease } from './lease.ts';
import type { TagVersions } from './tag-versions.ts';
import { CacheError } from '../errors.ts';

/**
 * Keeps the values of a {@link JsonCache}. All drivers of this package run the same contract tests, which
 * `@redline/response-cache/testing` exports.
 *
 * A call that throws or rejects means that the store is down: the cache then bypasses it until `get` succeeds again.
 */
export interface JsonStore {
  /**
   * Returns the value under `key`; null or undefined if it is missing or has expired. A store in the process returns it
   * without a promise, and the cache then does not check its checksum.
   */
  get(key: string): Found | Promise<Found>;

  /** Keeps `raw` under `key` for `ttl` milliseconds, replacing any earlier value. */
  set(key: string, raw: string, ttl: number): void | Promise<unknown>;

  /** Deletes `key`, if it exists. */
  delete(key: string): void | Promise<unknown>;

  /** Deletes every key that begins with `keyPrefix`. Without it, the cache has no `clear`. */
  clear?(keyPrefix: string): void | Promise<unknown>;

  /** Deletes every key that begins with `keyPrefix` and that `isMeant` accepts. Without it, the cache has no `purge`. */
  purge?(keyPrefix: string, isMeant: (key: string) => boolean): void | Promise<unknown>;

  /** The tags of the values. Without it, the cache has no tags. */
  readonly tags?: TagVersions;

  /**
   * For stores shared by several processes: resolves once this process has to produce the value under `key`, or another
   * has produced it. A value that ends in `outdated` counts as missing. If it rejects, the result is not stored.
   */
  lease?(key: string, outdated?: string): Promise<Lease | 'made'>;

  /** Keeps `raw` in place of the value that ends in `old`; resolves to false if that value is gone. */
  replace?(key: string, old: string, raw: string, ttl: number): Promise<boolean>;

  /**
   * For stores shared by several processes: returns true to the first that calls it for `key`, until `ms` milliseconds have passed
   * or `key` is deleted. Without it, each process renews for itself.
   */
  claim?(key: string, ms: number): boolean | Promise<boolean>;

  /**
   * Reports values that no longer hold. Only a store that notices every change, by any process, has it; without it, the
   * HTTP engine serves no responses.
   */
  readonly drops?: Drops;

  /**
   * Calls `listener` with faults that keep the store from working as configured, while it still works. The cache logs them.
   */
  watchFaults?(listener: (fault: string) => void): void;

  /** Closes the connections that the store itself has opened. */
  close?(): void;

  /**
   * Returns true if `error`, which `get` rejected with, means that the key holds something other than text. The cache then
   * overwrites it.
   */
  holdsForeignValue?(error: unknown): boolean;
}

export type Found = string | null | undefined;

/**
 * Checks for a store by its methods. A client of Redis has get and set as well, with other arguments.
 *
 * @throws {CacheError} ERR_REDLINE_CACHE_OPTION
 */
export function checkStore(what: string, store: JsonStore): JsonStore {
  const { get, set, delete: drop } = (store ?? {}) as Partial<JsonStore>;
  if ([get, set, drop].every((method) => typeof method === 'function')) return store;
  const got = (store as object | null)?.constructor?.name ?? String(store);
  throw new CacheError(
    'ERR_REDLINE_CACHE_OPTION',
    `${what} must have get, set and delete, as memoryStore(), redisStore(client) and tieredStore(client) have; got ${got}.`,
  );
}

/** Called with the names of changed or deleted values; with undefined for everything. */
export type DropListener = (names: readonly string[] | undefined) => void;

/** Reports of a store to copies of its values outside of it, such as those of the HTTP engine, about values that no longer hold. */
export interface Drops {
  /** False while changes may go unnoticed: values that are read meanwhile may not be copied. */
  readonly isCoherent: boolean;
  /** Number of times the connection that reports changes was lost: all copies were dropped then. */
  readonly losses?: number;
  /** Returns the names by which a change of the value under `key`, or of one of its tags, is reported. */
  namesOf(key: string, tags: readonly string[]): string[];
  /** Calls `listener` with every change, before it is acknowledged, until the returned function is called. */
  watch(listener: DropListener): () => void;
}

/** The listeners of a store, usually none. */
export class DropListeners {
  readonly #listeners = new Set<DropListener>();

  notify(names: readonly string[] | undefined): void {
    for (const listener of this.#listeners) listener(names);
  }

  readonly watch = (listener: DropListener): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}

/* Max number of faults reported: a server whose messages all differ would fill the log. */
const maxReported = 8;

/** Faults that limit a store without stopping it, such as a missing right. */
export class Faults {
  readonly #reported = new Set<string>();
  readonly #listeners = new Set<(fault: string) => void>();

  /** Reports each text once. */
  report(fault: string): void {
    if (this.#reported.size >= maxReported || this.#reported.has(fault)) return;
    this.#reported.add(fault);
    for (const listener of this.#listeners) listener(fault);
  }

  /** Calls `listener` with earlier and later faults. */
  readonly watch = (listener: (fault: string) => void): void => {
    this.#listeners.add(listener);
    for (const fault of this.#reported) listener(fault);
  };
}
