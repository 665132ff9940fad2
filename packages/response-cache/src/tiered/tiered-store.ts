import { type Drops, Faults, type Found, type JsonStore } from '../store/json-store.ts';
import { refuseUnknown, positiveInteger } from '../validate.ts';
import {
  HeldLease,
  isLease,
  leaseMs,
  leaseScript,
  leaseToken,
  type Lease,
  type RunOnKey,
} from '../store/lease.ts';
import { NearCache } from './near-cache.ts';
import { commandsOf, type RedisClient, type RedisCommands } from '../redis/redis-client.ts';
import { redisStore, type RedisStore, type RedisStoreOptions } from '../redis/redis-store.ts';
import { LruMap } from '../store/lru-map.ts';
import type { TagVersions } from '../store/tag-versions.ts';
import { TieredTagVersions } from './tiered-tag-versions.ts';
import { serversOf } from '../wire/servers.ts';
import { ConnectionLostError } from '../wire/redis-connection.ts';
import { withTimeout } from '../outages/deadline-queue.ts';

/* Interval of waiting for a lease without the connection for invalidations. */
const pollEveryMs = 50;
const connecting = { who: 'tieredStore', otherwise: 'use redisStore' };

export interface TieredStoreOptions extends Pick<RedisStoreOptions, 'keyPrefix'> {
  /**
   * Maximum number of bytes in this process: keys, values and their overhead.
   * @default 64 Mi
   */
  maxBytes?: number;
  /**
   * Time the connection for invalidations may be silent, in milliseconds, before it counts as lost. That is the max time
   * for which a response may be sent after another process has changed it.
   * @default 1_000
   */
  maxSilenceMs?: number;
}

/**
 * Keeps values in the memory of this process, in front of Redis, which reports when they change: a hit makes no call,
 * and an invalidation by any process reaches all of them. On a miss, one process at a time produces the value.
 *
 * Reads use a separate connection of the store, opened with the options of `client`, to each master of a Cluster;
 * `JsonCache.close()` ends it. You own `client`. While the connection is lost, the store works like `redisStore`.
 *
 * @throws {CacheError} ERR_REDLINE_CACHE_OPTION
 * @example
 * ```ts
 * const cache = new JsonCache({ store: tieredStore(client, { maxBytes: 128 * 1024 * 1024 }) });
 * ```
 */
export function tieredStore(client: RedisClient, options: TieredStoreOptions = {}): TieredStore {
  return new TieredStore(client, options);
}

export class TieredStore implements JsonStore {
  readonly tags: TagVersions;
  readonly drops: Drops;
  readonly #client: RedisCommands;
  readonly #redis: RedisStore;
  readonly #values: LruMap;
  readonly #nearCache: NearCache;
  readonly #silenceMs: number;
  readonly #faults = new Faults();
  readonly watchFaults: Faults['watch'] = this.#faults.watch;

  constructor(client: RedisClient, options: TieredStoreOptions) {
    refuseUnknown('tieredStore', options, { keyPrefix: true, maxBytes: true, maxSilenceMs: true });
    const { maxBytes = 64 * 1024 * 1024, maxSilenceMs = 1_000, ...others } = options;
    this.#client = commandsOf(client);
    this.#redis = redisStore(client, others);
    this.#values = new LruMap({
      maxEntries: Infinity,
      maxSize: positiveInteger('maxBytes', maxBytes),
    });
    this.#silenceMs = positiveInteger('maxSilenceMs', maxSilenceMs);
    this.#nearCache = new NearCache(this.#values, serversOf(client, connecting), {
      silenceMs: this.#silenceMs,
      onRefused: (reason) =>
        this.#faults.report(
          `tieredStore is redisStore, and keeps nothing in this process: Redis refuses its connection for invalidations: ${reason}`,
        ),
    });
    this.tags = new TieredTagVersions(this.#redis.tags, this.#nearCache);
    const [nearCache, redis] = [this.#nearCache, this.#redis];
    this.drops = {
      get isCoherent(): boolean {
        return nearCache.isReady;
      },
      get losses(): number {
        return nearCache.losses;
      },
      namesOf: (key, tags) => [
        redis.fullKeyOf(key),
        ...tags.map((tag) => redis.tags.fullKeyOf(tag)),
      ],
      watch: nearCache.listeners.watch,
    };
  }

  /** Current number of bytes in this process. */
  get bytes(): number {
    return this.#values.size;
  }

  /** True while Redis, or each master of the Cluster, notifies this process of changes. */
  get isCoherent(): boolean {
    return this.#nearCache.isReady;
  }

  get(key: string): Found | Promise<Found> {
    const full = this.#redis.fullKeyOf(key);
    const local = this.#nearCache.get(full);
    if (local !== undefined) return local;
    return this.#nearCache.fetch(full).catch((error: unknown) => {
      if (error instanceof ConnectionLostError) return this.#getFromRedis(key);
      throw error;
    });
  }

  async set(key: string, raw: string, ttl: number): Promise<void> {
    await this.#change(key, () => this.#redis.set(key, raw, ttl));
  }

  claim(key: string, ms: number): Promise<boolean> {
    return this.#redis.claim(key, ms);
  }

  async delete(key: string): Promise<void> {
    await this.#change(key, () => this.#redis.delete(key));
  }

  async purge(keyPrefix: string, isMeant: (key: string) => boolean): Promise<void> {
    // Same as in `clear`: values that were dropped in Redis must not be found here meanwhile.
    this.#nearCache.dropAll();
    await this.#redis.purge(keyPrefix, isMeant);
    this.#nearCache.dropAll();
  }

  async clear(keyPrefix: string): Promise<void> {
    this.#nearCache.dropAll();
    await this.#redis.clear(keyPrefix);
    this.#nearCache.dropAll();
  }

  /**
   * Resolves once this process has to produce the value, or another has produced it meanwhile.
   *
   * @param outdated the end of an existing value that counts as missing
   */
  async lease(key: string, outdated = ''): Promise<Lease | 'made'> {
    const full = this.#redis.fullKeyOf(key);
    const token = leaseToken();
    for (;;) {
      // Watched before anything is sent, because the next change may arrive in one piece with the reply.
      const change = this.#nearCache.watch(full);
      const args = ['take', outdated, token, String(leaseMs)];
      const { raw, leftMs } = await this.#take(key, args, change);
      if (raw !== null && raw !== token && isLease(raw)) {
        await change.within(Math.max(leftMs, 1));
        continue;
      }
      change.stop();
      if (raw === token) return new HeldLease(token, this.#runOn(key));
      // An empty text is not a value.
      if (raw !== null && raw !== '') return 'made';
    }
  }

  /** Keeps `raw` in place of the value that ends in `old`, if that is still there. */
  async replace(key: string, old: string, raw: string, ttl: number): Promise<boolean> {
    const isReplaced = await this.#runOn(key)('keep', old, raw, ttl);
    this.#nearCache.drop(this.#redis.fullKeyOf(key));
    return isReplaced;
  }

  holdsForeignValue(error: unknown): boolean {
    return this.#redis.holdsForeignValue(error);
  }

  /** Closes the connection for invalidations. */
  close(): void {
    this.#nearCache.close();
  }

  async #take(
    key: string,
    args: string[],
    change: { stop(): void },
  ): Promise<{ raw: string | null; leftMs: number }> {
    try {
      const run = this.#nearCache.runAndRead(this.#redis.fullKeyOf(key), leaseScript, args);
      // The connection counts as lost sooner, unless the server responds to everything but this.
      return await withTimeout(2 * this.#silenceMs, run).catch((error: unknown) => {
        if (error instanceof ConnectionLostError) return this.#takeFromRedis(key, args);
        throw error;
      });
    } catch (error) {
      change.stop();
      throw error;
    }
  }

  /* Changes of the key are not reported here, so it is read again soon. */
  async #takeFromRedis(
    key: string,
    args: string[],
  ): Promise<{ raw: string | null; leftMs: number }> {
    this.#client.requireReady();
    const own = this.#redis.keyOf(key);
    const read = this.#client.script(leaseScript, [own], args).then(() => this.#client.get(own));
    // This call has no other deadline, and its callers would hang with the server.
    return { raw: await withTimeout(this.#silenceMs, read), leftMs: pollEveryMs };
  }

  async #getFromRedis(key: string): Promise<Found> {
    const raw = await this.#redis.get(key);
    return raw !== null && isLease(raw) ? null : raw;
  }

  #runOn(key: string): RunOnKey {
    return async (what, end, raw, ttl) => {
      this.#client.requireReady();
      const args = [what, end, raw, String(ttl)];
      const done = await this.#client.script(leaseScript, [this.#redis.keyOf(key)], args);
      return done === 1;
    };
  }

  /* Drops before, to serve no old value once the change has begun, and after, because a read may have come between. */
  async #change(key: string, change: () => Promise<unknown>): Promise<void> {
    const full = this.#redis.fullKeyOf(key);
    this.#nearCache.drop(full);
    await change();
    this.#nearCache.drop(full);
  }
}
