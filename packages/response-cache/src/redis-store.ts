import { CacheError } from './errors.ts';
import type { JsonStore } from './json-store.ts';

/** The part of an ioredis `Redis` or `Cluster` that the store uses. */
export interface RedisClient {
  readonly status: string;
  get(key: string): Promise<string | null>;
  set(key: string, value: string, milliseconds: 'PX', ttlMs: number): Promise<unknown>;
  del(key: string): Promise<unknown>;
  connect?(): Promise<unknown>;
}

export interface RedisStoreOptions {
  /**
   * Put before every key, so that the cache never meets the app's own keys.
   * @default 'redline:json:'
   */
  keyPrefix?: string;
}

/**
 * Keeps values in Redis, through an ioredis client of your own. The store neither connects nor closes it: who
 * made the client closes it, after the server. (A client with `lazyConnect` is connected at first use.)
 *
 * @example
 * ```ts
 * const client = new Redis(process.env.REDIS_URL);
 * const cache = new JsonCache({ store: redisStore(client) });
 * ```
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): RedisStore {
  return new RedisStore(client, options);
}

export class RedisStore implements JsonStore {
  readonly #client: RedisClient;
  readonly #keyPrefix: string;

  constructor(client: RedisClient, options: RedisStoreOptions) {
    this.#client = client;
    this.#keyPrefix = options.keyPrefix ?? 'redline:json:';
  }

  get(key: string): Promise<string | null> {
    this.#requireReady();
    return this.#client.get(this.#keyPrefix + key);
  }

  set(key: string, raw: string, ttlMs: number): Promise<unknown> {
    this.#requireReady();
    return this.#client.set(this.#keyPrefix + key, raw, 'PX', ttlMs);
  }

  delete(key: string): Promise<unknown> {
    this.#requireReady();
    return this.#client.del(this.#keyPrefix + key);
  }

  holdsForeignValue(error: unknown): boolean {
    return error instanceof Error && error.message.startsWith('WRONGTYPE');
  }

  /* Without this, ioredis queues the command until it is connected, however long that takes. */
  #requireReady(): void {
    const { status } = this.#client;
    if (status === 'ready') return;
    // It reports the failure as its own 'error' event.
    if (status === 'wait') this.#client.connect?.().catch(() => {});
    throw new CacheError(
      'ERR_REDLINE_CACHE_STORE_NOT_READY',
      `The Redis client is not ready: its status is "${status}".`,
    );
  }
}
