import type { JsonStore } from './json-store.ts';
import { refuseUnknown } from './known-options.ts';
import { positiveInteger } from './positive-integer.ts';
import { MemoryTagVersions, type TagVersions } from './tag-versions.ts';

export interface MemoryStoreOptions {
  /**
   * The most values kept at a time.
   * @default 10_000
   */
  maxEntries?: number;
  /**
   * The most characters kept at a time, keys and values together. A value that is longer alone is not kept.
   * A character takes one byte, or two in a text that goes beyond Latin-1.
   * @default 64 Mi
   */
  maxLength?: number;
}

interface Entry {
  readonly raw: string;
  readonly expiresAt: number;
  readonly length: number;
  wasRead: boolean;
}

/**
 * Keeps values in this process, within bounds: what was not read lately goes first.
 *
 * @throws {CacheError} ERR_REDLINE_CACHE_OPTION
 * @example
 * ```ts
 * const cache = new JsonCache({ store: memoryStore({ maxEntries: 1_000 }) });
 * ```
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  return new MemoryStore(options);
}

export class MemoryStore implements JsonStore {
  readonly tags: TagVersions = new MemoryTagVersions();
  readonly #entries = new Map<string, Entry>();
  readonly #maxEntries: number;
  readonly #maxLength: number;
  #length = 0;

  constructor(options: MemoryStoreOptions) {
    refuseUnknown('memoryStore', options, ['maxEntries', 'maxLength']);
    const { maxEntries = 10_000, maxLength = 64 * 1024 * 1024 } = options;
    this.#maxEntries = positiveInteger('maxEntries', maxEntries);
    this.#maxLength = positiveInteger('maxLength', maxLength);
  }

  /** How many values are kept now, those whose time is up among them until they are met. */
  get size(): number {
    return this.#entries.size;
  }

  get(key: string): string | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.expiresAt <= performance.now()) {
      this.#remove(key, entry);
      return undefined;
    }
    entry.wasRead = true;
    return entry.raw;
  }

  set(key: string, raw: string, ttl: number): void {
    this.delete(key);
    const length = key.length + raw.length;
    if (length > this.#maxLength) return;
    while (this.#entries.size >= this.#maxEntries || this.#length + length > this.#maxLength)
      this.#evict();
    this.#entries.set(key, { raw, expiresAt: performance.now() + ttl, length, wasRead: false });
    this.#length += length;
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#remove(key, entry);
  }

  clear(keyPrefix: string): void {
    for (const [key, entry] of this.#entries)
      if (key.startsWith(keyPrefix)) this.#remove(key, entry);
  }

  /*
   * Second chance over the Map's own order: a hit sets a flag, where an LRU list would move the entry, which
   * in a Map is a delete and a set.
   */
  #evict(): void {
    const now = performance.now();
    for (const [key, entry] of this.#entries) {
      const hasSecondChance = entry.wasRead && entry.expiresAt > now;
      if (!hasSecondChance) return this.#remove(key, entry);
      entry.wasRead = false;
      this.#entries.delete(key);
      this.#entries.set(key, entry);
    }
  }

  #remove(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#length -= entry.length;
  }
}
