import { DropListeners, type Drops, type JsonStore } from './json-store.ts';
import { refuseUnknown, positiveInteger } from '../validate.ts';
import { LruMap } from './lru-map.ts';
import { MemoryTagVersions, type TagVersions } from './tag-versions.ts';

export interface MemoryStoreOptions {
  /**
   * Maximum number of values.
   * @default 10_000
   */
  maxEntries?: number;
  /**
   * Maximum number of characters, keys and values together. A single longer value is not kept.
   * A character takes one byte, or two in a text that goes beyond Latin-1.
   * @default 64 Mi
   */
  maxLength?: number;
}

/**
 * Keeps values in this process, within bounds: the least recently read values are evicted first.
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
  readonly tags: TagVersions;
  readonly drops: Drops;
  readonly #values: LruMap;
  readonly #listeners = new DropListeners();

  constructor(options: MemoryStoreOptions) {
    refuseUnknown('memoryStore', options, { maxEntries: true, maxLength: true });
    const { maxEntries = 10_000, maxLength = 64 * 1024 * 1024 } = options;
    this.#values = new LruMap({
      maxEntries: positiveInteger('maxEntries', maxEntries),
      maxSize: positiveInteger('maxLength', maxLength),
    });
    this.tags = new MemoryTagVersions(undefined, (tags) =>
      this.#listeners.notify(tags.map(tagName)),
    );
    this.drops = {
      isCoherent: true,
      namesOf: (key, tags) => [keyName(key), ...tags.map(tagName)],
      watch: this.#listeners.watch,
    };
  }

  /** Current number of values, including expired ones until they are accessed. */
  get size(): number {
    return this.#values.count;
  }

  get(key: string): string | undefined {
    return this.#values.get(key);
  }

  set(key: string, raw: string, ttl: number): void {
    // A value under a new key is not a change to any listener.
    if (this.#values.has(key)) this.#listeners.notify([keyName(key)]);
    this.#values.put(key, raw, ttl, key.length + raw.length);
  }

  delete(key: string): void {
    this.#values.delete(key);
    this.#listeners.notify([keyName(key)]);
  }

  purge(keyPrefix: string, isMeant: (key: string) => boolean): void {
    const deleted = this.#values.deleteWhere((key) => key.startsWith(keyPrefix) && isMeant(key));
    if (deleted.length > 0) this.#listeners.notify(deleted.map(keyName));
  }

  clear(keyPrefix: string): void {
    this.#values.clear(keyPrefix);
    this.#listeners.notify(undefined);
  }
}

const keyName = (key: string): string => `key:${key}`;
const tagName = (tag: string): string => `tag:${tag}`;
