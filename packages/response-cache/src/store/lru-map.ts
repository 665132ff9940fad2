interface Entry<Value> {
  readonly value: Value;
  readonly expiresAt: number;
  readonly size: number;
  wasRead: boolean;
}

export interface LruBounds {
  readonly maxEntries: number;
  /** Limit of the sum of the `size` of all values. */
  readonly maxSize: number;
}

/** Keeps texts, or other values with a key, in this process, within bounds: values not read recently are evicted first. */
export class LruMap<Value = string> {
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #bounds: LruBounds;
  #size = 0;

  constructor(bounds: LruBounds) {
    this.#bounds = bounds;
  }

  /** Current number of values, including expired ones until they are accessed. */
  get count(): number {
    return this.#entries.size;
  }

  get size(): number {
    return this.#size;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.expiresAt <= performance.now()) {
      this.#remove(key, entry);
      return undefined;
    }
    entry.wasRead = true;
    return entry.value;
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  put(key: string, value: Value, ttl: number, size: number): void {
    this.delete(key);
    const { maxEntries, maxSize } = this.#bounds;
    if (size > maxSize) return;
    while (this.#entries.size >= maxEntries || this.#size + size > maxSize) this.#evict();
    this.#entries.set(key, { value, expiresAt: performance.now() + ttl, size, wasRead: false });
    this.#size += size;
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#remove(key, entry);
  }

  clear(keyPrefix = ''): void {
    this.deleteWhere((key) => key.startsWith(keyPrefix));
  }

  /** Deletes the keys that `isMeant` accepts, and returns them. */
  deleteWhere(isMeant: (key: string) => boolean): string[] {
    const deleted: string[] = [];
    for (const [key, entry] of this.#entries) {
      if (!isMeant(key)) continue;
      this.#remove(key, entry);
      deleted.push(key);
    }
    return deleted;
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

  #remove(key: string, entry: Entry<Value>): void {
    this.#entries.delete(key);
    this.#size -= entry.size;
  }
}
