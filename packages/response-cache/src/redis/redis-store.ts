import { withTimeout } from '../outages/deadline-queue.ts';
import { aBoolean, aText, checkValues, refuseUnknown } from '../validate.ts';
import { Faults, type JsonStore } from '../store/json-store.ts';
import { ReadConnection } from './read-connection.ts';
import {
  commandsOf,
  type RedisClient,
  type RedisCommands,
  nameInRedis,
  redisName,
} from './redis-client.ts';
import { RedisReads } from './redis-reads.ts';
import { RedisTagVersions } from './redis-tag-versions.ts';
import { readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';

/** Time limit for one step of `clear` or `purge`, which reads or deletes up to 1,000 keys. */
const clearStepMs = 5_000;

export interface RedisStoreOptions {
  /**
   * Prefix of every key, so that the cache touches neither the app's own keys nor those of another app.
   * @default 'redline:json:', the name of the app (from its package.json, with the folder of its main file) and ':'
   */
  keyPrefix?: string;
  /**
   * Reads over a connection of the store's own, opened with the options of `client`, which takes less CPU than the client.
   * `JsonCache.close()` ends it. While it is lost, the client reads. Needs Redis 6 or newer; not for a Cluster or a Sentinel
   * of node-redis.
   * @default false
   */
  readConnection?: boolean;
}

/**
 * Keeps values in Redis, through your client: ioredis, iovalkey or node-redis, or their Cluster or Sentinel. The store
 * neither connects nor closes it: close it yourself, after the server. (An ioredis client with `lazyConnect` is
 * connected at first use.)
 *
 * @throws {CacheError} ERR_REDLINE_CACHE_OPTION
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
  readonly tags: RedisTagVersions;
  readonly #client: RedisCommands;
  readonly #reads: RedisReads;
  readonly #keyPrefix: string;
  readonly #keyOf = (key: string): string => this.#keyPrefix + redisName(key);
  readonly #readConnection: ReadConnection | undefined;
  readonly #faults = new Faults();
  readonly watchFaults: Faults['watch'] = this.#faults.watch;

  constructor(client: RedisClient, options: RedisStoreOptions) {
    refuseUnknown('redisStore', options, { keyPrefix: true, readConnection: true });
    checkValues('redisStore', options, { keyPrefix: aText, readConnection: aBoolean });
    this.#client = commandsOf(client);
    this.#keyPrefix = options.keyPrefix ?? `redline:json:${appName()}:`;
    if (options.readConnection === true)
      this.#readConnection = new ReadConnection(client, this.#client, (reason) =>
        this.#faults.report(
          `redisStore reads over the client, although it has a readConnection: Redis refuses that: ${reason}`,
        ),
      );
    this.#reads = new RedisReads(this.#readConnection?.commands ?? this.#client);
    this.tags = new RedisTagVersions(this.#client, this.#reads, this.#keyPrefix);
  }

  get(key: string): Promise<string | null> {
    this.#client.requireReady();
    return this.#reads.get(key, this.#keyOf);
  }

  set(key: string, raw: string, ttl: number): Promise<unknown> {
    this.#client.requireReady();
    const done = this.#client.set(this.keyOf(key), raw, ttl);
    const reads = this.#readConnection;
    return reads === undefined ? done : done.then((reply) => reads.repliedTo().then(() => reply));
  }

  claim(key: string, ms: number): Promise<boolean> {
    this.#client.requireReady();
    return this.#client.setIfAbsent(this.keyOf(key), '1', ms);
  }

  delete(key: string): Promise<unknown> {
    this.#client.requireReady();
    return this.#client.del(this.keyOf(key));
  }

  /** The key as passed to the client. */
  keyOf(key: string): string {
    return this.#keyOf(key);
  }

  /** The key in Redis. */
  fullKeyOf(key: string): string {
    return this.#client.keyPrefix + this.#keyPrefix + redisName(key);
  }

  clear(keyPrefix: string): Promise<void> {
    return this.purge(keyPrefix, () => true);
  }

  async purge(keyPrefix: string, isMeant: (key: string) => boolean): Promise<void> {
    this.#client.requireReady();
    // In the escaped form of a key, the prefix follows a quote.
    for (const prefix of [keyPrefix, JSON.stringify(keyPrefix).slice(0, -1)]) {
      const { keyPrefix: put } = this.#client;
      // Clients neither add their prefix to a pattern nor remove it from the keys found.
      const pattern = `${escapeGlob(put + this.#keyPrefix + prefix)}*`;
      const found = this.#client.scan(pattern)[Symbol.asyncIterator]();
      for (;;) {
        // The limit is for each step: the total time grows with the number of keys.
        const { done, value: keys } = await withTimeout(clearStepMs, found.next());
        if (done === true) break;
        const own = put.length + this.#keyPrefix.length;
        const meant = keys.filter((key) => isMeant(nameInRedis(key.slice(own))));
        const deleted = meant.map((key) => this.#client.del(key.slice(put.length)));
        await withTimeout(clearStepMs, Promise.all(deleted));
      }
    }
  }

  /** Closes the connection that the store opened; the client stays open. */
  close(): void {
    this.#readConnection?.close();
  }

  holdsForeignValue(error: unknown): boolean {
    return error instanceof Error && error.message.startsWith('WRONGTYPE');
  }
}

function escapeGlob(text: string): string {
  return text.replace(/[\\*?[\]^-]/g, '\\$&');
}

/**
 * Returns a name that distinguishes this app from others: the name in the package.json above its main file, and the folder
 * of that file in the package, because one package may hold several apps. Without a package.json, as with a bundle, the path
 * of the file. Empty without a main file.
 */
export function appName(mainFile: string | undefined = findMainFile()): string {
  if (mainFile === undefined) return '';
  const folder = dirname(mainFile);
  for (let root = folder; ; root = dirname(root)) {
    const name = packageName(root);
    if (name !== undefined)
      return [name, ...relative(root, folder).split(sep)].filter(Boolean).join('/');
    if (dirname(root) === root) return mainFile;
  }
}

/* PM2 starts every app through its own file, and names the file of the app in the environment. */
function findMainFile(): string | undefined {
  const started = process.argv[1];
  const isPm2 = started !== undefined && /[\\/]ProcessContainer\w*\.js$/.test(started);
  return isPm2 ? (process.env['pm_exec_path'] ?? started) : started;
}

function packageName(folder: string): string | undefined {
  try {
    const { name } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return typeof name === 'string' ? name : undefined;
  } catch {
    return undefined;
  }
}
