import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRedis, type RedisServer } from '@redline/services';
import { Redis } from 'ioredis';
import { createClient, createClientPool, createSentinel } from 'redis';
import { Answer } from '../src/answer/answer.ts';
import { JsonCache } from '../src/cache/json-cache.ts';
import { prometheusMetrics } from '../src/cache/metrics.ts';
import {
  tieredStore,
  type TieredStore,
  type TieredStoreOptions,
} from '../src/tiered/tiered-store.ts';
import { storeContract } from '../src/testing/store-contract.ts';
import { until } from '@redline/services/until';

const server = await startRedis();
const skip = server === undefined && 'there is no redis-server on PATH';
after(() => server?.stop());

/** A proxy in front of Redis whose connections can be made to hang or end. */
async function startProxy(target: number): Promise<{
  port: number;
  hang(): void;
  cut(): void;
  stop(): void;
}> {
  const pairs = new Set<[Socket, Socket]>();
  const proxy = createServer((socket) => {
    const upstream = connect(target, '127.0.0.1');
    const pair: [Socket, Socket] = [socket, upstream];
    pairs.add(pair);
    socket.pipe(upstream);
    upstream.pipe(socket);
    for (const each of pair) {
      each.on('error', () => {});
      each.on('close', () => {
        for (const one of pair) one.destroy();
        pairs.delete(pair);
      });
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const cut = (): void => {
    for (const pair of pairs) for (const each of pair) each.destroy();
  };
  return {
    port: (proxy.address() as AddressInfo).port,
    hang() {
      for (const [socket, upstream] of pairs) {
        upstream.unpipe(socket);
        socket.unpipe(upstream);
        upstream.pause();
      }
    },
    cut,
    stop() {
      proxy.close();
      cut();
    },
  };
}

describe('tieredStore', { skip }, () => {
  const redis = server as RedisServer;
  let client: Redis;
  const stores: TieredStore[] = [];
  const makeStore = async (
    options: TieredStoreOptions = {},
    over: object = client,
  ): Promise<TieredStore> => {
    const store = tieredStore(over as Redis, { keyPrefix: 'tiered:', ...options });
    stores.push(store);
    await until('coherence', () => store.isCoherent);
    return store;
  };
  const makeCache = (store: TieredStore): JsonCache =>
    new JsonCache({ store, ttl: 60_000, logger: false, timeoutMs: 30_000 });

  before(async () => {
    client = new Redis(redis.url, { enableAutoPipelining: true });
    await client.ping();
  });
  after(() => client.quit());
  beforeEach(() => client.flushall());
  afterEach(() => {
    for (const store of stores.splice(0)) store.close();
  });

  describe('as a store', () => {
    let store: TieredStore;
    before(async () => {
      store = tieredStore(client, { keyPrefix: 'contract:' });
      await until('coherence', () => store.isCoherent);
    });
    after(() => store.close());
    storeContract(() => store);
  });

  it('gives what it has read before at once, without Redis', async () => {
    const store = await makeStore();
    await store.set('a', '1', 60_000);
    assert.equal(await store.get('a'), '1');
    assert.equal(store.get('a'), '1');
    assert.ok(store.bytes > 0);
  });

  for (const [what, change] of [
    ['another process sets', (key: string) => client.set(key, 'x')],
    ['another process deletes', (key: string) => client.del(key)],
    ['runs out', (key: string) => client.pexpire(key, 1)],
    ['is flushed', () => client.flushdb()],
  ] as const)
    it(`forgets what ${what}`, async () => {
      const store = await makeStore();
      await store.set('a', '1', 60_000);
      assert.equal(await store.get('a'), '1');
      await change('tiered:a');
      await until('the invalidation', () => store.get('a') !== '1');
    });

  for (const tag of ['t', 't\ud800', '"t"'])
    it(`has the tag ${JSON.stringify(tag)} that another process invalidates reach it, and asks Redis for nothing meanwhile`, async () => {
      const [mine, another] = [makeCache(await makeStore()), makeCache(await makeStore())];
      const ask = (): unknown => mine.answer('a', () => 1, { tags: [tag] });
      await ask();
      await until('a hit at once', () => ask() instanceof Answer);
      await another.invalidate(tag);
      await until('the invalidation', () => !(ask() instanceof Answer));
      // What was begun ends here, and not in the next test.
      await ask();
    });

  it('stays within its bytes', async () => {
    const store = await makeStore({ maxBytes: 10_000 });
    for (let i = 0; i < 50; i++) {
      await store.set(`k${i}`, '日'.repeat(500), 60_000);
      await store.get(`k${i}`);
      assert.ok(store.bytes <= 10_000, `${store.bytes} bytes`);
    }
    assert.ok(store.bytes > 8_000);
  });

  it('works over node-redis, and refuses what is not one server', async () => {
    const over = createClient({ url: redis.url });
    await over.connect();
    const store = await makeStore({}, over);
    await store.set('a', '1', 60_000);
    assert.equal(await store.get('a'), '1');
    assert.equal(store.get('a'), '1');
    over.destroy();
    const pool = createClientPool({ url: redis.url });
    assert.throws(() => tieredStore(pool as never), {
      code: 'ERR_REDLINE_CACHE_OPTION',
      message:
        /and a pool does not say which that is: give it a client of its own, createClient\(options\), or use redisStore\.$/,
    });
    const sentinel = createSentinel({
      name: 'x',
      sentinelRootNodes: [{ host: '127.0.0.1', port: 1 }],
    });
    assert.throws(() => tieredStore(sentinel as never), {
      message: /and a Sentinel of node-redis does not say which that is: use redisStore\.$/,
    });
  });

  for (const [name, open] of [
    ['ioredis', async () => new Redis(redis.url, { keyPrefix: 'app*:' })],
    ['node-redis', async () => createClient({ url: redis.url, keyPrefix: 'app*:' }).connect()],
  ] as const)
    it(`keeps, shares and clears its keys under the prefix that a client of ${name} has of its own`, async () => {
      const over = await open();
      const store = await makeStore({}, over);
      const cache = makeCache(store);
      await client.set('tiered:b', 'not ours');
      assert.equal(await cache.answer('a', () => 1), '1');
      assert.deepEqual((await client.keys('*')).toSorted(), ['app*:tiered:a', 'tiered:b']);
      await until('a hit at once', () => cache.answer('a', () => assert.fail('lost')) === '1');
      await client.set('app*:tiered:a', '2');
      await until('the invalidation', async () => (await cache.answer('a', () => 3)) === '2');
      await cache.clear();
      assert.deepEqual(await client.keys('*'), ['tiered:b']);
      if (over instanceof Redis) over.disconnect();
      else over.destroy();
    });

  it('logs in with a name, a password and a database', async () => {
    const own = (await startRedis()) as RedisServer;
    const admin = new Redis(own.url);
    await admin.config('SET', 'requirepass', 'sécret word');
    admin.disconnect();
    const over = new Redis(own.url, { password: 'sécret word', db: 3 });
    await over.ping();
    const store = await makeStore({}, over);
    await store.set('a', '1', 60_000);
    assert.equal(await store.get('a'), '1');
    assert.equal(await over.get('tiered:a'), '1');
    over.disconnect();
    await own.stop();
  });

  for (const how of ['is cut', 'hangs'] as const)
    it(`is empty once its connection ${how}, and answers from Redis until it has another`, async () => {
      const proxy = await startProxy(Number(new URL(redis.url).port));
      const over = Object.create(client, {
        options: { value: { ...client.options, port: proxy.port, host: '127.0.0.1' } },
      }) as object;
      const store = await makeStore({ maxSilenceMs: 400 }, over);
      const cache = new JsonCache({ store, logger: false });
      await store.set('a', '1', 60_000);
      assert.equal(await store.get('a'), '1');
      assert.equal(store.get('a'), '1');
      if (how === 'is cut') proxy.cut();
      else proxy.hang();
      await until('the loss', () => !store.isCoherent);
      assert.equal(store.bytes, 0);
      assert.equal(cache.memoryLosses, 1);
      assert.match(prometheusMetrics([cache]), /^redline_cache_memory_losses_total\{.*\} 1$/m);
      await client.set('tiered:a', '2', 'PX', 60_000);
      assert.equal(await store.get('a'), '2');
      await until('coherence', () => store.isCoherent);
      assert.equal(await store.get('a'), '2');
      assert.equal(store.get('a'), '2');
      proxy.stop();
    });
});

describe('The lease of tieredStore', { skip }, () => {
  const redis = server as RedisServer;
  let client: Redis;
  let caches: JsonCache[];
  before(async () => {
    client = new Redis(redis.url, { enableAutoPipelining: true });
    await client.flushall();
  });
  after(() => client.quit());
  beforeEach(async () => {
    const stores = Array.from({ length: 3 }, () => tieredStore(client, { keyPrefix: 'lease:' }));
    for (const store of stores) await until('coherence', () => store.isCoherent);
    caches = stores.map((store) => new JsonCache({ store, logger: false, timeoutMs: 30_000 }));
  });
  afterEach(() => {
    for (const cache of caches) cache.close();
  });

  it('has one process make a value that all of them want, however long that takes', async () => {
    let runs = 0;
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        caches[index % 3]!.answer('/slow', async () => {
          runs += 1;
          // Longer than a lease that is not kept.
          await sleep(1_200);
          return { runs };
        }),
      ),
    );
    assert.deepEqual([...new Set(answers)], ['{"runs":1}']);
    assert.equal(runs, 1);
    const misses = caches.map(({ stats }) => stats.misses);
    assert.equal(misses[0]! + misses[1]! + misses[2]!, 1);
  });

  it('goes to the next one where the first fails', async () => {
    let runs = 0;
    const answers = await Promise.allSettled(
      caches.map((cache) =>
        cache.answer('/failing', async () => {
          runs += 1;
          // The other processes ask meanwhile.
          await sleep(20);
          if (runs === 1) throw new Error('no');
          return 1;
        }),
      ),
    );
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [
      'fulfilled',
      'fulfilled',
      'rejected',
    ]);
    assert.equal(runs, 2);
  });

  it('keeps out what was made before the key was deleted, by whomever', async () => {
    const { promise, resolve } = Promise.withResolvers<number>();
    const running = Promise.withResolvers<void>();
    const old = caches[0]!.answer('/old', () => {
      running.resolve();
      return promise;
    });
    await running.promise;
    await caches[1]!.delete('/old');
    // He asks after the deletion, so the old value is not for him.
    const later = caches[0]!.answer('/old', () => 2);
    resolve(1);
    assert.equal(await old, '1');
    assert.equal(await later, '2');
    assert.equal(await caches[2]!.answer('/old', () => assert.fail('not kept')), '2');
  });

  it('ends with a process that is gone', async () => {
    await client.set('lease:/gone', '\u0001lease:of-a-process-that-was-killed', 'PX', 300);
    assert.equal(await caches[0]!.answer('/gone', () => 1), '1');
  });

  it('is no matter where a tag was invalidated: the value is made once more, by one', async () => {
    let runs = 0;
    const ask = (cache: JsonCache): unknown =>
      cache.answer('/tagged', async () => (runs += 1), { tags: ['t'] });
    await Promise.all(caches.map(ask));
    assert.equal(runs, 1);
    await caches[0]!.invalidate('t');
    await until('all know', async () => {
      const versions = await Promise.all(caches.map(ask));
      return versions.every((answer) => answer instanceof Answer && answer.json === '2');
    });
    assert.equal(runs, 2);
  });
});
