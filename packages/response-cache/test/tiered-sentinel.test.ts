import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startRedisSentinel, type RedisSentinel } from '@redline/services';
import { Redis } from 'ioredis';
import { redisStore, type RedisStore } from '../src/redis/redis-store.ts';
import { storeContract } from '../src/testing/store-contract.ts';
import { tieredStore, type TieredStore } from '../src/tiered/tiered-store.ts';
import { until } from '@redline/services/until';

const servers = await startRedisSentinel();
const skip = servers === undefined && 'there is no redis-server on PATH';
after(() => servers?.stop());

describe('tieredStore and readConnection behind a Sentinel', { skip }, () => {
  const redis = servers as RedisSentinel;
  const closing: { close(): void }[] = [];
  let client: Redis;
  before(async () => {
    const sentinels = [{ host: '127.0.0.1', port: redis.sentinel.port }];
    client = new Redis({ sentinels, name: redis.name, keyPrefix: 'shop:' });
    client.on('error', () => {});
    await until('a client', () => client.status === 'ready');
  });
  after(() => {
    for (const store of closing) store.close();
    client.disconnect();
  });

  const makeStore = async (): Promise<TieredStore> => {
    const store = tieredStore(client);
    closing.push(store);
    await until('coherence', () => store.isCoherent);
    return store;
  };
  /** What the store has in memory; it reads what it has not. */
  const now = (store: TieredStore, key: string): unknown => {
    const found = store.get(key);
    if (!(found instanceof Promise)) return found;
    found.catch(() => {});
    return undefined;
  };
  const portOfMaster = async (): Promise<number> => {
    const sentinel = new Redis(redis.sentinel.port, '127.0.0.1');
    const [, port] = (await sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', redis.name)) as [
      string,
      string,
    ];
    sentinel.disconnect();
    return Number(port);
  };
  /** Changes the value of a key at the master, as another process does. */
  const change = async (store: TieredStore, key: string, value: string): Promise<void> => {
    const [full] = store.drops.namesOf(key, []);
    const other = new Redis(await portOfMaster(), '127.0.0.1');
    await other.set(full!, value, 'PX', 60_000);
    other.disconnect();
  };

  storeContract(() => {
    const store = tieredStore(client);
    closing.push(store);
    return store;
  });

  it('hears of changes, before and after a failover', { timeout: 600_000 }, async () => {
    const store = await makeStore();
    const reading: RedisStore = redisStore(client, { readConnection: true });
    closing.push(reading);
    await store.set('/a', '1', 60_000);
    await until('/a in memory', () => now(store, '/a') === '1');
    await change(store, '/a', '2');
    await until('/a is 2', () => now(store, '/a') === '2');
    assert.equal(await reading.get('/a'), '2');

    const former = await portOfMaster();
    const sentinel = new Redis(redis.sentinel.port, '127.0.0.1');
    await until('a failover begins', () =>
      sentinel.call('SENTINEL', 'FAILOVER', redis.name).then(
        () => true,
        () => false,
      ),
    );
    sentinel.disconnect();
    await until('another master', async () => (await portOfMaster()) !== former);
    const master = await portOfMaster();
    await until('the client is there', () => {
      const { status, stream } = client as unknown as {
        status: string;
        stream: { remotePort?: number };
      };
      return status === 'ready' && stream.remotePort === master;
    });
    await until('coherence with the new master', () => store.isCoherent);
    await until('a value of the new master', async () => {
      await change(store, '/b', '3');
      return now(store, '/b') === '3';
    });
    await change(store, '/b', '4');
    await until('/b is 4', () => now(store, '/b') === '4');
    await until('/b by the connection for reads', async () => (await reading.get('/b')) === '4');
    // A write that the client makes has to reach what other processes read.
    await store.set('/c', '5', 60_000);
    assert.equal(await reading.get('/c'), '5');
  });
});
