import type { NearCache } from './near-cache.ts';
import type { RedisTagVersions } from '../redis/redis-tag-versions.ts';
import { ConnectionLostError } from '../wire/redis-connection.ts';
import type { TagVersions, Versions } from '../store/tag-versions.ts';

/** The versions of Redis, those in use kept in this process: a hit makes no call. */
export class TieredTagVersions implements TagVersions {
  readonly #redis: RedisTagVersions;
  readonly #nearCache: NearCache;
  /* A hit usually comes with the list of the previous one: joining and hashing its keys costs half as much as the rest. */
  readonly #keys = new WeakMap<readonly string[], readonly string[]>();

  constructor(redis: RedisTagVersions, nearCache: NearCache) {
    this.#redis = redis;
    this.#nearCache = nearCache;
  }

  get epoch(): number {
    return this.#nearCache.changes;
  }

  ticket(): Promise<number> {
    return this.#redis.ticket();
  }

  read(tags: readonly string[]): Versions | Promise<Versions> {
    const versions: number[] = [];
    for (const key of this.#keysOf(tags)) {
      const version = this.#nearCache.get(key);
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
    for (const key of keys) this.#nearCache.drop(key);
    await this.#redis.invalidate(tags);
    for (const key of keys) this.#nearCache.drop(key);
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
        this.#nearCache.fetch(this.#redis.fullKeyOf(tag)).catch(noneIfForeign),
      );
      const versions = await Promise.all(fetched);
      return versions.map((version) => (version === null ? undefined : Number(version)));
    } catch (error) {
      if (error instanceof ConnectionLostError) return this.#redis.read(tags);
      throw error;
    }
  }
}

/* A list or the like is not a version, and is replaced. */
function noneIfForeign(error: unknown): null {
  if (error instanceof Error && error.message.startsWith('WRONGTYPE')) return null;
  throw error;
}
