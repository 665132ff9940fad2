import type { Near } from './near.ts';
import type { RedisTagVersions } from '../redis/redis-tag-versions.ts';
import { LostWire } from '../wire/wire.ts';
import type { TagVersions, Versions } from '../store/tag-versions.ts';

/** The versions of Redis, those in use kept in this process: a hit asks nobody. */
export class TieredTagVersions implements TagVersions {
  readonly #redis: RedisTagVersions;
  readonly #near: Near;
  /* A hit mostly comes with the list of the one before: joining and hashing its keys is half of what the rest costs. */
  readonly #keys = new WeakMap<readonly string[], readonly string[]>();

  constructor(redis: RedisTagVersions, near: Near) {
    this.#redis = redis;
    this.#near = near;
  }

  get epoch(): number {
    return this.#near.changes;
  }

  ticket(): Promise<number> {
    return this.#redis.ticket();
  }

  read(tags: readonly string[]): Versions | Promise<Versions> {
    const versions: number[] = [];
    for (const key of this.#keysOf(tags)) {
      const version = this.#near.get(key);
      if (version === undefined) return this.#fetch(tags);
      versions.push(Number(version));
    }
    return versions;
  }

  open(tags: readonly string[]): Promise<readonly number[]> {
    return this.#redis.open(tags);
  }

  async invalidate(tags: readonly string[]): Promise<void> {
    const keys = tags.map((tag) => this.#redis.fullKeyOf(tag));
    for (const key of keys) this.#near.drop(key);
    await this.#redis.invalidate(tags);
    for (const key of keys) this.#near.drop(key);
  }

  #keysOf(tags: readonly string[]): readonly string[] {
    const known = this.#keys.get(tags);
    if (known !== undefined) return known;
    const keys = tags.map((tag) => this.#redis.fullKeyOf(tag));
    this.#keys.set(tags, keys);
    return keys;
  }

  async #fetch(tags: readonly string[]): Promise<Versions> {
    try {
      const fetched = tags.map((tag) =>
        this.#near.fetch(this.#redis.fullKeyOf(tag)).catch(noneIfForeign),
      );
      const versions = await Promise.all(fetched);
      return versions.map((version) => (version === null ? undefined : Number(version)));
    } catch (error) {
      if (error instanceof LostWire) return this.#redis.read(tags);
      throw error;
    }
  }
}

/* A list or the like is not a version, and is replaced. */
function noneIfForeign(error: unknown): null {
  if (error instanceof Error && error.message.startsWith('WRONGTYPE')) return null;
  throw error;
}
