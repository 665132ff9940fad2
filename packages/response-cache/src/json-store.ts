import type { Lease } from './lease.ts';
import type { TagVersions } from './tag-versions.ts';

/**
 * Where a {@link JsonCache} keeps its values. All drivers of this package run the same contract tests, which
 * `@redline/response-cache/testing` exports.
 *
 * A call that throws or rejects says that the store cannot answer: the cache then does without it
 * until `get` answers again.
 */
export interface JsonStore {
  /** The value under `key`; null or undefined when there is none or its time is up. A store in process answers without a promise. */
  get(key: string): Found | Promise<Found>;

  /** Keeps `raw` under `key` for `ttl` milliseconds, over whatever was there. */
  set(key: string, raw: string, ttl: number): void | Promise<unknown>;

  /** Forgets `key`; nothing happens when there is no such key. */
  delete(key: string): void | Promise<unknown>;

  /** Forgets every key that begins with `keyPrefix`. Without it, the cache has no `clear`. */
  clear?(keyPrefix: string): void | Promise<unknown>;

  /** The tags of the values. Without it, the cache has no tags. */
  readonly tags?: TagVersions;

  /**
   * Where several processes share the store: resolves once this one is to make the value under `key`, or somebody else has
   * made it. A value that ends in `outdated` does not count. Where it rejects, what is made is not stored.
   */
  lease?(key: string, outdated?: string): Promise<Lease | 'made'>;

  /** Keeps `raw` in place of the value that ends in `old`; false if that value is gone. */
  replace?(key: string, old: string, raw: string, ttl: number): Promise<boolean>;

  /** Ends what the store itself has opened. */
  close?(): void;

  /** True when `error`, which `get` rejected with, says that the key holds something other than text. The cache then writes over it. */
  holdsForeignValue?(error: unknown): boolean;
}

export type Found = string | null | undefined;
