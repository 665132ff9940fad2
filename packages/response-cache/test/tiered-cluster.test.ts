import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRedisCluster, type RedisCluster } from '@redline/services';
import { Cluster, Redis } from 'ioredis';
import { createCluster } from 'redis';
import { JsonCache } from '../src/cache/json-cache.ts';
import type { RedisClient } from '../src/redis/redis-client.ts';
import { redisStore } from '../src/redis/redis-store.ts';
import { tieredStore, type TieredStore } from '../src/tiered/tiered-store.ts';
import { storeContract } from '../src/testing/store-contract.ts';
import { keySlot } from '../src/wire/servers.ts';
import { until } from '@redline/services/until';

const servers = await startRedisCluster();
const skip = servers === undefined && 'there is no redis-server of version 7 on PATH';
after(() => servers?.stop());

/** A key in each third of the slots. */
const keys = [0, 1, 2].map((third) => {
  for (let i = 0; ; i++)
    if (Math.floor((keySlot(`cluster:k${i}`) * 3) / 16_384) === third) return `k${i}`;
});

/** What the store has in memory; it reads what it has not. */
function now(store: TieredStore, key: string): unknown {
  const found = store.get(key);
  if (found instanceof Promise) found.catch(() => {});
  return found;
}

describe('tieredStore on a Redis Cluster', { skip }, () => {
  const redis = servers as RedisCluster;
  const stores: TieredStore[] = [];
  const clients: Cluster[] = [];
  const makeStore = async (client: object): Promise<TieredStore> => {
    const store = tieredStore(client as Cluster, { keyPrefix: 'cluster:' });
    stores.push(store);
    await until('coherence', () => store.isCoherent);
    return store;
  };
  const makeClient = async (): Promise<Cluster> => {
    const client = new Cluster([...redis.nodes]);
    clients.push(client);
    client.on('error', () => {});
    await until('a client', () => client.status === 'ready');
    return client;
  };
  after(() => {
    for (const store of stores.splice(0)) store.close();
    for (const client of clients.splice(0)) client.disconnect();
  });

  for (const [name, connect] of [
    ['ioredis', makeClient],
    [
      'node-redis',
      async () => {
        const client = createCluster({
          rootNodes: redis.nodes.map(({ host, port }) => ({ socket: { host, port } })),
        });
        client.on('error', () => {});
        await client.connect();
        return Object.assign(client, { disconnect: () => client.destroy() });
      },
    ],
  ] as const)
    describe(`over ${name}`, () => {
      let client: Awaited<ReturnType<typeof connect>>;
      let store: TieredStore;
      before(async () => {
        client = await connect();
        store = tieredStore(client as Cluster, { keyPrefix: 'contract:' });
        await until('coherence', () => store.isCoherent);
      });
      after(() => {
        store.close();
        client.disconnect();
      });
      if (name === 'ioredis') storeContract(() => store);

      it('keeps keys of every master in memory until another process changes them', async () => {
        const [mine, another] = [await makeStore(client), await makeStore(await makeClient())];
        for (const key of keys) await mine.set(key, 'old', 60_000);
        for (const key of keys) assert.equal(await mine.get(key), 'old');
        for (const key of keys) assert.equal(mine.get(key), 'old');
        for (const key of keys) await another.set(key, 'new', 60_000);
        for (const key of keys)
          await until('the invalidation', async () => (await mine.get(key)) === 'new');
      });
    });

  it('has one process of several make a value, under keys of every master', async () => {
    const all: JsonCache[] = [];
    for (let i = 0; i < 3; i++) {
      const store = await makeStore(await makeClient());
      all.push(new JsonCache({ store, logger: false, timeoutMs: 30_000 }));
    }
    for (const key of keys) {
      let runs = 0;
      const asked = Array.from({ length: 30 }, (_, index) =>
        all[index % 3]!.answer(`lease-${key}`, async () => {
          // The other processes ask meanwhile.
          await sleep(50);
          return (runs += 1);
        }),
      );
      assert.deepEqual([...new Set(await Promise.all(asked))], ['1']);
      assert.equal(runs, 1);
    }
    for (const cache of all) cache.close();
  });

  for (const how of ['demoted', 'killed'] as const)
    it(`is empty once a master was ${how}, and keeps what its successor has`, async () => {
      const client = await makeClient();
      const [mine, another] = [await makeStore(client), await makeStore(await makeClient())];
      const key = keys[how === 'demoted' ? 1 : 2]!;
      await mine.set(key, 'old', 600_000);
      assert.equal(await mine.get(key), 'old');
      assert.equal(mine.get(key), 'old');
      const slot = keySlot(`cluster:${key}`);
      await until('the client knows the replica', () => {
        client.refreshSlotsCache();
        return client.slots[slot]?.length === 2;
      });
      const [name, replica] = client.slots[slot]!;
      const [master, successor] = [name, replica].map((each) => Number(each!.split(':')[1]));
      if (how === 'demoted') await redis.ask(successor!, 'CLUSTER FAILOVER');
      else await redis.at(master!).kill();
      await until('the loss', () => mine.bytes === 0);
      await until('the successor takes writes', async () =>
        (await redis.ask(successor!, 'ROLE')).includes('master'),
      );
      await until('it is written', () =>
        another.set(key, 'new', 600_000).then(
          () => true,
          () => false,
        ),
      );
      await until('it is kept again', () => now(mine, key) === 'new');
      await another.delete(key);
      await until('the invalidation by the successor', () => now(mine, key) !== 'new');
      if (how === 'killed') await redis.at(master!).restart();
    });
});

describe('redisStore on a Redis Cluster', { skip }, () => {
  const redis = servers as RedisCluster;
  const clients: Record<string, () => Promise<{ client: RedisClient; close(): void }>> = {
    async ioredis() {
      const client = new Cluster([...redis.nodes], { enableAutoPipelining: true });
      client.on('error', () => {});
      await until('a client', () => client.status === 'ready');
      return { client, close: () => client.disconnect() };
    },
    async 'node-redis'() {
      const client = createCluster({ rootNodes: redis.nodes.map((socket) => ({ socket })) });
      client.on('error', () => {});
      await client.connect();
      return { client: client as RedisClient, close: () => client.destroy() };
    },
  };

  for (const [name, connect] of Object.entries(clients))
    it(`reads keys of all masters in one turn, each by itself, over ${name}`, async () => {
      const { client, close } = await connect();
      const cache = new JsonCache({
        store: redisStore(client, { keyPrefix: `${name}:` }),
        timeoutMs: 30_000,
        logger: false,
      });
      const ask = (): Promise<unknown[]> =>
        Promise.all(keys.map((key) => cache.wrap(key, () => key, { tags: ['t', key] })));
      for (let times = 0; times < 3; times++) assert.deepEqual(await ask(), keys);
      assert.equal(cache.stats.hits, 2 * keys.length);
      await cache.invalidate('t');
      assert.deepEqual(await ask(), keys);
      assert.equal(cache.stats.invalidated, keys.length);
      assert.equal(cache.isStoreDown, false);
      cache.close();
      close();
    });

  it('reads from a master that the client takes for a server of its own', async (test) => {
    const any = new Redis(redis.nodes[0]!);
    const [first] = (await any.cluster('SLOTS')) as unknown as [number, number, [string, number]][];
    any.disconnect();
    const [from, to, [host, port]] = first!;
    const client = new Redis({ host, port, enableAutoPipelining: true });
    test.after(() => client.disconnect());
    await client.ping();
    const isThere = (key: string): boolean => {
      const slot = keySlot(`mine:${key}`);
      return slot >= from && slot <= to;
    };
    const there = Array.from({ length: 40 }, (_, index) => `k${index}`).filter(isThere);
    assert.ok(there.length > 1);
    const store = redisStore(client, { keyPrefix: 'mine:' });
    const cache = new JsonCache({ store, logger: false, timeoutMs: 30_000 });
    test.after(() => cache.close());
    const ask = (): Promise<unknown[]> =>
      Promise.all(there.map((key) => cache.wrap(key, () => key)));
    for (let times = 0; times < 2; times++) assert.deepEqual(await ask(), there);
    assert.equal(cache.isStoreDown, false);
    assert.equal(cache.stats.misses, there.length);
    assert.equal(cache.stats.bypasses, 0);
  });
});
