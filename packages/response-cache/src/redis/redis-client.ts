import { CacheError } from '../errors.ts';

const scanStep = 1_000;

/** The part of an ioredis or iovalkey `Redis` or `Cluster` that the store uses. */
export interface IoredisClient {
  readonly status: string;
  get(key: string): Promise<string | null>;
  set(
    key: string,
    value: string,
    milliseconds: 'PX',
    ttl: number,
    ifAbsent?: 'NX',
  ): Promise<unknown>;
  del(key: string): Promise<unknown>;
  mget(keys: string[]): Promise<(string | null)[]>;
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
  scan(
    cursor: string,
    match: 'MATCH',
    pattern: string,
    count: 'COUNT',
    at: number,
  ): Promise<[string, string[]]>;
  connect?(): Promise<unknown>;
  /** Sends all its commands at once. */
  pipeline?(commands: string[][]): { exec(): Promise<[Error | null, unknown][] | null> };
  /** Only on a Cluster. */
  nodes?(role: 'master'): IoredisClient[];
}

/** The part of a node-redis client, cluster, sentinel or pool that the store uses. */
export interface NodeRedisClient {
  readonly isOpen: boolean;
  /** Missing on a cluster. */
  readonly isReady?: boolean;
  get(key: string): Promise<unknown>;
  set(key: string, value: string, options: { PX: number; NX?: true }): Promise<unknown>;
  del(key: string): Promise<unknown>;
  mGet(keys: string[]): Promise<unknown>;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  /** Missing on a cluster. */
  scanIterator?(options: { MATCH: string; COUNT: number }): AsyncIterable<string | string[]>;
}

export type RedisClient = IoredisClient | NodeRedisClient;

/** The common interface of all clients. */
export interface RedisCommands {
  /** Prefix that the client itself adds to every key. */
  readonly keyPrefix: string;
  /** True if commands of one turn of the event loop leave together for one server, so that they may be merged into one. */
  readonly batches: boolean;
  /** Throws if a command would be queued until the client is connected, however long that takes. */
  requireReady(): void;
  get(key: string): Promise<string | null>;
  set(key: string, value: string, ttl: number): Promise<unknown>;
  /** Resolves to true if the key was absent. */
  setIfAbsent(key: string, value: string, ttl: number): Promise<boolean>;
  del(key: string): Promise<unknown>;
  mget(keys: string[]): Promise<(string | null)[]>;
  script(script: string, keys: string[], args: string[]): Promise<unknown>;
  /** Yields every key that matches, some of them twice, a few at a time. */
  scan(pattern: string): AsyncIterable<string[]>;
}

/** @throws {CacheError} ERR_REDLINE_CACHE_OPTION: it is neither kind of client. */
export function commandsOf(client: RedisClient): RedisCommands {
  const { get, set, del, status, isOpen } = (client ?? {}) as Partial<
    IoredisClient & NodeRedisClient
  >;
  const hasCommands = [get, set, del].every((command) => typeof command === 'function');
  if (hasCommands && typeof status === 'string') return ofIoredis(client as IoredisClient);
  if (hasCommands && typeof isOpen === 'boolean') return ofNodeRedis(client as NodeRedisClient);
  const name = (client as object | undefined)?.constructor?.name;
  throw new CacheError(
    'ERR_REDLINE_CACHE_OPTION',
    `redisStore takes a client of ioredis, iovalkey or node-redis, but was given ${name === undefined ? String(client) : `a ${name}`}. For another client, write a JsonStore: three methods.`,
  );
}

function ofIoredis(client: IoredisClient): RedisCommands {
  const { options } = client as { options?: { enableAutoPipelining?: unknown } };
  const batches = options?.enableAutoPipelining === true && client.nodes === undefined;
  return {
    keyPrefix: prefixOf(client),
    batches,
    requireReady() {
      const { status } = client;
      if (status === 'ready') return;
      // Created with lazyConnect. The client reports a failure as its own 'error' event.
      if (status === 'wait') client.connect?.().catch(() => {});
      throw notReady(`its status is "${status}"`);
    },
    get: (key) => client.get(key),
    set: (key, value, ttl) => client.set(key, value, 'PX', ttl),
    setIfAbsent: async (key, value, ttl) =>
      (await client.set(key, value, 'PX', ttl, 'NX')) !== null,
    del: (key) => client.del(key),
    mget: (keys) => (batches ? mgetAtOnce(client, keys) : client.mget(keys)),
    script: (script, keys, args) => client.eval(script, keys.length, ...keys, ...args),
    async *scan(pattern) {
      for (const node of client.nodes?.('master') ?? [client]) {
        let cursor = '0';
        do {
          const [next, keys] = await node.scan(cursor, 'MATCH', pattern, 'COUNT', scanStep);
          yield keys;
          cursor = next;
        } while (cursor !== '0');
      }
    },
  };
}

/* With autopipelining a command waits for the next turn of the event loop, and these have already waited one turn. */
function mgetAtOnce(client: IoredisClient, keys: string[]): Promise<(string | null)[]> {
  if (client.pipeline === undefined) return client.mget(keys);
  const sent = client.pipeline([['mget', ...keys]]).exec();
  return sent.then((replies) => {
    const [error, values] = replies![0]!;
    if (error !== null) throw error;
    return values as (string | null)[];
  });
}

function ofNodeRedis(client: NodeRedisClient): RedisCommands {
  return {
    keyPrefix: prefixOf(client),
    // A pool has no isReady, and its commands leave one by one; in a cluster, one dead server would fail the reads of all.
    batches: client.isReady !== undefined && !isNodeRedisCluster(client),
    requireReady() {
      if (client.isReady ?? client.isOpen) return;
      throw notReady(client.isOpen ? 'it is connecting' : 'call its connect()');
    },
    get: (key) => client.get(key) as Promise<string | null>,
    set: (key, value, ttl) => client.set(key, value, { PX: ttl }),
    setIfAbsent: async (key, value, ttl) =>
      (await client.set(key, value, { PX: ttl, NX: true })) !== null,
    del: (key) => client.del(key),
    mget: (keys) => client.mGet(keys) as Promise<(string | null)[]>,
    script: (script, keys, args) => client.eval(script, { keys, arguments: args }),
    async *scan(pattern) {
      if (client.scanIterator === undefined) {
        throw new CacheError(
          'ERR_REDLINE_CACHE_OPTION',
          'clear() cannot walk through the keys of a node-redis cluster: delete by tags, or use ioredis.',
        );
      }
      for await (const keys of client.scanIterator({ MATCH: pattern, COUNT: scanStep }))
        yield Array.isArray(keys) ? keys : [keys];
    },
  };
}

function isNodeRedisCluster(client: object): boolean {
  return 'masters' in client && 'slots' in client;
}

/* A node-redis cluster has it under a different name. */
function prefixOf(client: RedisClient): string {
  const { options, _keyPrefix } = client as {
    options?: { keyPrefix?: unknown };
    _keyPrefix?: unknown;
  };
  const prefix = options?.keyPrefix ?? _keyPrefix;
  return typeof prefix === 'string' ? prefix : '';
}

function notReady(why: string): CacheError {
  return new CacheError(
    'ERR_REDLINE_CACHE_STORE_NOT_READY',
    `The Redis client is not ready: ${why}.`,
  );
}

/**
 * Returns the form of a key or tag in Redis. In UTF-8 all lone surrogates are one character: two keys would be one, and a change
 * that Redis reports would match neither. JSON escapes them.
 */
export function redisName(name: string): string {
  return name.isWellFormed() && !name.startsWith('"') ? name : JSON.stringify(name);
}

/** Returns the key or tag that Redis has under `name`. */
export function nameInRedis(name: string): string {
  if (!name.startsWith('"')) return name;
  try {
    return String(JSON.parse(name));
  } catch {
    return name;
  }
}
