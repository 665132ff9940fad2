import type { Drops } from './drops.ts';
import type { Lease } from './lease.ts';
import type { TagVersions } from './tag-versions.ts';

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
