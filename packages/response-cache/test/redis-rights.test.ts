// The rights in docs/guide/json-cache.md, "Rights in Redis": each feature works with its own, on a real Redis, and says so when
// one is missing.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe, it } from 'node:test';
import { startRedis } from '@redline/services';
import { Redis } from 'ioredis';
import { JsonCache, redisStore, tieredStore, type JsonStore } from '../src/index.ts';
import { until } from '@redline/services/until';

const server = await startRedis();
const skip = server === undefined && 'there is no redis-server on PATH';
after(() => server?.stop());

const values = ['get', 'set', 'del', 'mget'];
const tags = ['eval', 'time', 'pttl', 'pexpire'];
const connection = ['hello', 'role'];

interface Feature {
  /** As in the guide. */
  readonly name: string;
  readonly commands: readonly string[];
  store(client: Redis): JsonStore;
  use(cache: JsonCache): Promise<void>;
}

const keyPrefix = 'rights:';

async function keepAndFind(cache: JsonCache, options: { tags?: string[] } = {}): Promise<void> {
  let runs = 0;
  const produce = (): number => (runs += 1);
  await cache.wrap('key', produce, options);
  await until('it is kept', () => cache.stats.stores > 0);
  assert.equal(await cache.wrap('key', produce, options), 1);
  assert.deepEqual(await cache.getMany(['key', 'other']), [1, undefined]);
  await cache.delete('key');
  assert.equal(await cache.wrap('key', produce, options), 2);
  await until('it is kept again', () => cache.stats.stores > 1);
}

async function invalidate(cache: JsonCache): Promise<void> {
  await keepAndFind(cache, { tags: ['tag'] });
  await cache.invalidate('tag');
  assert.equal(await cache.get('key'), undefined);
}

const features: readonly Feature[] = [
  {
    name: '`redisStore`',
    commands: values,
    store: (client) => redisStore(client, { keyPrefix }),
    use: (cache) => keepAndFind(cache),
  },
  {
    name: '`redisStore`, tags',
    commands: [...values, ...tags],
    store: (client) => redisStore(client, { keyPrefix }),
    use: invalidate,
  },
  {
    name: '`redisStore`, `readConnection`',
    commands: [...values, ...connection],
    store: (client) => redisStore(client, { keyPrefix, readConnection: true }),
    use: (cache) => keepAndFind(cache),
  },
  {
    name: '`tieredStore`',
    commands: [...values, ...tags, ...connection, 'client|tracking'],
    store: (client) => tieredStore(client, { keyPrefix }),
    use: invalidate,
  },
  {
    name: '`clear()`, `purge()`',
    commands: [...values, 'scan'],
    store: (client) => redisStore(client, { keyPrefix }),
    async use(cache) {
      await keepAndFind(cache);
      await cache.purge({ prefix: '/' });
      await cache.clear();
      assert.equal(await cache.get('key'), undefined);
    },
  },
];

interface Trial extends AsyncDisposable {
  readonly cache: JsonCache;
  readonly lines: string[];
}

let users = 0;

/** A cache whose client may run these commands, on its own keys alone. */
async function tryWith(commands: readonly string[], { store }: Feature): Promise<Trial> {
  const admin = new Redis(server!.port);
  await admin.flushall();
  const username = `user${(users += 1)}`;
  const rights = commands.map((command) => `+${command}`);
  // The client itself asks whether the server is loading.
  // Those of tags begin with a brace, which keeps them in one slot of a Cluster.
  const keys = [`~${keyPrefix}*`, `~{${keyPrefix}*`];
  await admin.acl('SETUSER', username, 'on', '>secret', ...keys, '+info', ...rights);
  const client = new Redis({ port: server!.port, username, password: 'secret' });
  client.on('error', () => {});
  await until('the client is ready', () => client.status === 'ready');
  const lines: string[] = [];
  const push = (line: string): void => void lines.push(line);
  const logger = { warn: push, log: push };
  const cache = new JsonCache({ store: store(client), ttl: 60_000, timeoutMs: 5_000, logger });
  return {
    cache,
    lines,
    async [Symbol.asyncDispose]() {
      cache.close();
      client.disconnect();
      await admin.acl('DELUSER', username);
      admin.disconnect();
    },
  };
}

describe('A user of Redis', { skip }, () => {
  for (const feature of features) {
    it(`needs these rights alone for ${feature.name}: ${feature.commands.join(' ')}`, async () => {
      await using trial = await tryWith(feature.commands, feature);
      await feature.use(trial.cache);
      assert.deepEqual(trial.lines, []);
      assert.equal(trial.cache.stats.storeErrors, 0);
      assert.equal(trial.cache.isStoreDown, false);
    });
  }

  it('who lacks one is told by a line, and no response fails', async () => {
    const [plain, tagged] = features as [Feature, Feature];
    for (const [feature, missing] of [
      [plain, 'get'],
      [plain, 'set'],
      [tagged, 'eval'],
      [tagged, 'time'],
    ] as const) {
      const rights = feature.commands.filter((command) => command !== missing);
      await using trial = await tryWith(rights, feature);
      const options = feature === tagged ? { tags: ['tag'] } : {};
      assert.equal(await trial.cache.wrap('key', () => 7, options), 7);
      await until(`the missing ${missing} is told`, () => trial.lines.length > 0);
      assert.match(trial.lines[0]!, /is down.*(?:has no permissions|can't run this command)/);
      assert.ok(trial.cache.isStoreDown);
    }
  });

  for (const [at, missing, line] of [
    [2, 'role', /redisStore reads over the client.*no permissions.*'role'/],
    [3, 'client|tracking', /tieredStore is redisStore.*no permissions.*'client\|tracking'/],
  ] as const)
    it(`who lacks ${missing} for ${features[at]!.name} is told by one line, and has a cache`, async () => {
      const feature = features[at]!;
      const rights = feature.commands.filter((command) => command !== missing);
      await using trial = await tryWith(rights, feature);
      await until('it is told', () => trial.lines.length > 0);
      await feature.use(trial.cache);
      assert.equal(trial.lines.length, 1);
      assert.match(trial.lines[0]!, line);
      assert.equal(trial.cache.isStoreDown, false);
    });

  it('is what the guide says', () => {
    const path = new URL('../../../docs/guide/json-cache.md', import.meta.url);
    const guide = readFileSync(path, 'utf8');
    for (const { name, commands } of features) {
      const rights = commands.map((command) => `+${command}`).join(' ');
      const row = `| ${name} | \`${rights.replace('|', '\\|')}\` |`;
      assert.ok(guide.includes(row), row);
    }
  });
});

describe('A Redis that refuses writes', { skip }, () => {
  for (const [name, write] of Object.entries({
    set: (cache) => cache.set('key', 1),
    delete: (cache) => cache.delete('key'),
    invalidate: (cache) => cache.invalidate('tag'),
  } satisfies Record<string, (cache: JsonCache) => Promise<void>>)) {
    it(`is down for a cache that calls ${name}() alone, too, and says so once`, async () => {
      await using trial = await tryWith(['get', 'mget'], features[1]!);
      const { cache, lines } = trial;
      for (let count = 0; count < 3; count += 1)
        await assert.rejects(write(cache), { code: 'ERR_REDLINE_CACHE_STORE_DOWN' });
      await until('it is down', () => cache.isStoreDown);
      assert.equal(lines.length, 1);
      assert.match(lines[0]!, /is down.*has no permissions/);
      assert.ok(cache.stats.storeErrors > 0);
    });
  }

  for (const [what, refuse] of [
    ['is full', ['CONFIG', 'SET', 'maxmemory', '1', 'maxmemory-policy', 'noeviction']],
    ['is a replica', ['REPLICAOF', '127.0.0.1', '1']],
  ] as const) {
    it(`because it ${what} is down for the cache, which says so once and is back by itself`, async () => {
      const own = await startRedis();
      const admin = new Redis(own!.port);
      const client = new Redis(own!.port);
      const lines: string[] = [];
      const logger = {
        warn: (line: string): void => void lines.push(`warn ${line}`),
        log: (line: string): void => void lines.push(`log ${line}`),
      };
      const cache = new JsonCache({ store: redisStore(client, { keyPrefix }), logger });
      try {
        await client.get('anything');
        await admin.call(...(refuse as readonly string[] as [string, ...string[]]));
        for (let count = 0; count < 3; count += 1)
          assert.equal(await cache.wrap(`key${count}`, () => count), count);
        await until('it is down', () => cache.isStoreDown);
        assert.equal(await cache.wrap('key', () => 8), 8);
        assert.equal(lines.length, 1);
        assert.match(lines[0]!, /^warn .* is down.*(?:maxmemory|read.?only)/i);
        assert.ok(cache.stats.storeErrors > 0);
        if (what === 'is full') await admin.config('SET', 'maxmemory', '0');
        else await admin.call('REPLICAOF', 'NO', 'ONE');
        await until('it is back', () => !cache.isStoreDown);
        assert.equal(lines.length, 2);
        assert.equal(await cache.wrap('back', () => 9), 9);
        await until('it is kept', () => cache.stats.stores > 0);
        assert.equal(await cache.get('back'), 9);
      } finally {
        cache.close();
        client.disconnect();
        admin.disconnect();
        await own!.stop();
      }
    });
  }
});
