/**
 * Where a {@link JsonCache} keeps its values. Both drivers of this package run the same contract tests.
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

  /** True when `error`, which `get` rejected with, says that the key holds something other than text. The cache then writes over it. */
  holdsForeignValue?(error: unknown): boolean;
}

export type Found = string | null | undefined;
