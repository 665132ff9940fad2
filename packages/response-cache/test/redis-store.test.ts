import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, afterEach, before, describe, it } from 'node:test';
import { startRedis, type RedisServer } from '@redline/services';
import { Cluster, Redis } from 'ioredis';
import { createSentinel } from 'redis';
import { encodeEntry } from '../src/answer/entry-format.ts';
import { JsonCache } from '../src/cache/json-cache.ts';
import { redisStore, type RedisStore } from '../src/redis/redis-store.ts';
import { storeContract } from '../src/testing/store-contract.ts';
import { until } from '@redline/services/until';

const server = await startRedis();
const skip = server === undefined && 'there is no redis-server on PATH';

for (const enableAutoPipelining of [false, true]) {
  describe(
    `redisStore, ${enableAutoPipelining ? 'with' : 'without'} autopipelining`,
    { skip },
    () => {
      let client: Redis;
      before(async () => {
        client = new Redis((server as RedisServer).url, { enableAutoPipelining });
        await client.ping();
      });
      after(() => client.quit());

      storeContract(() => redisStore(client));

      it('keeps its keys under its prefix, with their time', async () => {
        await redisStore(client, { keyPrefix: 'mine:' }).set('/a', '1', 60_000);
        assert.equal(await client.get('mine:/a'), '1');
        const leftMs = await client.pttl('mine:/a');
        assert.ok(leftMs > 0 && leftMs <= 60_000, `${leftMs} ms left`);
      });

      it('puts the prefix of the cache after its own', async () => {
        const cache = new JsonCache({
          store: redisStore(client, { keyPrefix: 'redline:json:' }),
          timeoutMs: 30_000,
          keyPrefix: 'shop:',
          logger: false,
        });
        await cache.answer('/prefixed', () => 1);
        assert.equal(await client.get('redline:json:shop:/prefixed'), encodeEntry('1'));
      });

      it('asks for a value and the versions of its tags in one trip', async (test) => {
        if (!enableAutoPipelining) return test.skip('each command is a trip of its own');
        const cache = new JsonCache({
          store: redisStore(client),
          logger: false,
          timeoutMs: 30_000,
        });
        const ask = (): unknown => cache.answer('/trip', () => 1, { tags: ['trip'] });
        for (let times = 0; times < 3; times++) await ask();
        const writes = test.mock.method((client as unknown as { stream: Socket }).stream, 'write');
        await Promise.all([ask(), ask()]);
        assert.equal(writes.mock.callCount(), 1);
        assert.equal(cache.stats.hits, 4);
      });

      it('reads for a user who may not call MGET', async () => {
        await client.call('ACL', 'SETUSER', 'plain', 'on', '>secret', '~*', '+@all', '-mget');
        const { url } = server as RedisServer;
        const username = 'plain';
        const plain = new Redis(url, { enableAutoPipelining, username, password: 'secret' });
        await plain.ping();
        const cache = new JsonCache({
          store: redisStore(plain, { keyPrefix: 'acl:' }),
          timeoutMs: 30_000,
          logger: false,
        });
        await cache.set('a', 1);
        await cache.set('b', 2);
        assert.deepEqual(await cache.getMany(['a', 'b', 'a', 'c']), [1, 2, 1, undefined]);
        assert.deepEqual(await cache.getMany(['b', 'a']), [2, 1]);
        assert.equal(cache.isStoreDown, false);
        cache.close();
        plain.disconnect();
      });

      it('has a list under the key replaced, as any other value that is no JSON', async () => {
        await client.del('redline:json:/list');
        await client.lpush('redline:json:/list', 'x');
        const store = redisStore(client, { keyPrefix: 'redline:json:' });
        const cache = new JsonCache({ store, logger: false, timeoutMs: 30_000 });
        assert.equal(await cache.answer('/list', () => ({ good: true })), '{"good":true}');
        // MGET finds no text there, and GET says why.
        assert.equal(cache.stats.invalid, enableAutoPipelining ? 0 : 1);
        assert.equal(cache.isStoreDown, false);
        assert.equal(await client.get('redline:json:/list'), encodeEntry('{"good":true}'));
      });
    },
  );
}

describe('redisStore over a client that is not connected', { skip }, () => {
  it('says so at once, and leaves nothing in the queue of the client', async () => {
    const client = new Redis((server as RedisServer).url, { lazyConnect: true });
    const store = redisStore(client);
    assert.throws(() => store.get('/a'), { code: 'ERR_REDLINE_CACHE_STORE_NOT_READY' });
    assert.throws(() => store.set('/a', '1', 1_000), { code: 'ERR_REDLINE_CACHE_STORE_NOT_READY' });
    assert.throws(() => store.delete('/a'), { code: 'ERR_REDLINE_CACHE_STORE_NOT_READY' });
    client.disconnect();
  });

  it('has a lazy client connected, and uses it from then on', async () => {
    const client = new Redis((server as RedisServer).url, { lazyConnect: true });
    const cache = new JsonCache({ store: redisStore(client), logger: false });
    assert.equal(await cache.answer('/lazy', () => 1), '1');
    assert.equal(cache.stats.bypasses, 1);
    await until('the connection', () => !cache.isStoreDown);
    await cache.answer('/lazy', () => 2);
    assert.equal(cache.stats.misses, 1);
    await client.quit();
    cache.close();
  });
});

describe('redisStore with a connection for its reads', { skip }, () => {
  let client: Redis;
  let port: number;
  let closing: { close(): void }[] = [];
  before(async () => {
    port = Number(new URL((server as RedisServer).url).port);
    client = new Redis(port, '127.0.0.1');
    await client.ping();
  });
  afterEach(() => {
    for (const each of closing) each.close();
    closing = [];
  });
  after(() => client.quit());

  const open = (of: Redis = client): RedisStore => {
    const store = redisStore(of, { readConnection: true });
    closing.push(store);
    return store;
  };
  const connections = async (): Promise<string[]> =>
    String(await client.client('LIST'))
      .trim()
      .split('\n')
      .map((line) => /\bid=(\d+)/.exec(line)![1]!);
  /** Opens a store, and returns the connection that is there since. */
  const opened = async (of?: Redis): Promise<{ store: RedisStore; id: string }> => {
    const known = new Set(await connections());
    const store = open(of);
    for (;;) {
      const id = (await connections()).find((each) => !known.has(each));
      if (id !== undefined) return { store, id };
    }
  };
  const commandsOf = async (id: string): Promise<string> =>
    /\bcmd=(\S+)/.exec(String(await client.client('LIST', 'ID', id)))?.[1] ?? '';

  storeContract(() => open());

  it('reads over it, and writes by the client', async () => {
    const { store, id } = await opened();
    await store.set('/own', '"é日"', 60_000);
    let found: unknown;
    do found = await store.get('/own');
    while ((await commandsOf(id)) !== 'mget');
    assert.equal(found, '"é日"');
    assert.equal(await store.get('/none'), null);
  });

  it('reads large values, which come in many pieces', async () => {
    const { store, id } = await opened();
    while ((await commandsOf(id)) !== 'mget') await store.get('/large');
    const values = [1, 2, 3, 4].map((n) => `"${String(n).repeat(300_000)}é"`);
    await Promise.all(values.map((value, n) => store.set(`/large/${n}`, value, 60_000)));
    const keys = [0, 1, 'none', 2, 3];
    const found = await Promise.all(keys.map((n) => store.get(`/large/${n}`)));
    assert.deepEqual(found, [values[0], values[1], null, values[2], values[3]]);
  });

  it('has the prefix of the client, and the versions of tags', async () => {
    const prefixed = new Redis(port, '127.0.0.1', { keyPrefix: 'shop:' });
    await prefixed.ping();
    const { store, id } = await opened(prefixed);
    const cache = new JsonCache({ store, logger: false, timeoutMs: 30_000 });
    closing.push(cache);
    let runs = 0;
    const ask = (): unknown => cache.answer('/tagged', () => ++runs, { tags: ['t'] });
    const textOf = (answer: unknown): unknown => (answer as { json: string }).json;
    do assert.equal(textOf(await ask()), '1');
    while ((await commandsOf(id)) !== 'mget');
    await cache.invalidate('t');
    assert.equal(textOf(await ask()), '2');
    prefixed.disconnect();
  });

  it('reads by the client while it is lost, and over it again', async () => {
    const { store, id } = await opened();
    await store.set('/lost', '1', 60_000);
    while ((await commandsOf(id)) !== 'mget') await store.get('/lost');
    const earlier = new Set(await connections());
    await client.client('KILL', 'ID', id);
    // One is on its way when the connection ends.
    const found = await Promise.all([store.get('/lost'), store.get('/lost')]);
    assert.deepEqual(found, ['1', '1']);
    for (;;) {
      assert.equal(await store.get('/lost'), '1');
      const next = (await connections()).find((each) => !earlier.has(each));
      if (next !== undefined && (await commandsOf(next)) === 'mget') break;
    }
  });

  it('ends with the store', async () => {
    const { store, id } = await opened();
    store.close();
    while ((await connections()).includes(id));
  });

  it('refuses a client that does not say where one server is, and what is not a boolean', () => {
    const options = { readConnection: true };
    const sentinel = createSentinel({
      name: 'x',
      sentinelRootNodes: [{ host: '127.0.0.1', port: 1 }],
    });
    assert.throws(() => redisStore(sentinel as never, options), {
      code: 'ERR_REDLINE_CACHE_OPTION',
      message:
        'redisStore with readConnection connects to the Redis server of its client, and a Sentinel of node-redis does not say which that is: leave out readConnection.',
    });
    const cluster = new Cluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true });
    assert.throws(() => redisStore(cluster, options), {
      code: 'ERR_REDLINE_CACHE_OPTION',
      message: /^redisStore cannot read a Cluster over one connection: leave out readConnection/,
    });
    cluster.disconnect();
    assert.throws(() => redisStore(client, { readConnection: 1 as never }), {
      message: /^The option readConnection of redisStore must be true or false; got 1\./,
    });
  });
});

after(() => server?.stop());
