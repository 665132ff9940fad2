/**
 * The versions of the tags of a store, on a clock that every invalidation advances. A response holds the versions that its
 * tags had when it was made, and counts as gone once one of them changes: an invalidation costs the same however many
 * responses it affects.
 */
export interface TagVersions {
  /**
   * A number that differs after every change of a version: results of `read` hold while it stays the same. Undefined if versions
   * change unnoticed, as in a Redis that is not tracked.
   */
  readonly epoch?: number | undefined;

  /** Returns the time on that clock: a ticket. Data read after it is newer than every invalidation until then. */
  ticket(): number | Promise<number>;

  /** Returns the current versions; undefined for a tag that has none (any longer): the values stored with it are gone. */
  read(tags: readonly string[]): Versions | Promise<Versions>;

  /** Same as `read`, but gives tags without a version one. */
  open(tags: readonly string[]): readonly number[] | Promise<readonly number[]>;

  /** Gives each tag a new version, later than every ticket until now. */
  invalidate(tags: readonly string[]): void | Promise<unknown>;
}

export type Versions = readonly (number | undefined)[];

/** Keeps tags in this process, within bounds: those not used recently are evicted first, with the values stored with them. */
export class MemoryTagVersions implements TagVersions {
  readonly #versions = new Map<string, number>();
  readonly #maxTags: number;
  readonly #onInvalidated: ((tags: readonly string[]) => void) | undefined;
  #clock = 1;
  #forgotten = 0;

  constructor(maxTags = 100_000, onInvalidated?: (tags: readonly string[]) => void) {
    this.#maxTags = maxTags;
    this.#onInvalidated = onInvalidated;
  }

  get epoch(): number {
    return this.#clock + this.#forgotten;
  }

  ticket(): number {
    return this.#clock;
  }

  read(tags: readonly string[]): Versions {
    return tags.map((tag) => this.#versions.get(tag));
  }

  open(tags: readonly string[]): readonly number[] {
    return tags.map((tag) => this.#put(tag, this.#versions.get(tag) ?? this.#clock));
  }

  invalidate(tags: readonly string[]): void {
    this.#clock += 1;
    for (const tag of tags) this.#put(tag, this.#clock);
    this.#onInvalidated?.(tags);
  }

  #put(tag: string, version: number): number {
    this.#versions.delete(tag);
    if (this.#versions.size >= this.#maxTags) {
      this.#versions.delete(this.#versions.keys().next().value!);
      this.#forgotten += 1;
    }
    this.#versions.set(tag, version);
    return version;
  }
}
