import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startRedis, type RedisServer } from '@redline/services';
import { Redis } from 'ioredis';
import { Answer } from '../src/answer/answer.ts';
import { compressed } from '../src/store/compressed.ts';
import { JsonCache } from '../src/cache/json-cache.ts';
import { memoryStore } from '../src/store/memory-store.ts';
import { storeContract } from '../src/testing/store-contract.ts';
import { tieredStore, type TieredStore } from '../src/tiered/tiered-store.ts';
import { clockOf } from './clock.ts';
import { until } from '@redline/services/until';

const server = await startRedis();
const skip = server === undefined && 'there is no redis-server on PATH';
after(() => server?.stop());

describe('compressed(memoryStore())', () => {
  const store = compressed(memoryStore(), { minLength: 1 });
  storeContract(() => store);

  it('stores less, and short values as they are', async () => {
    const within = memoryStore();
    const around = compressed(within);
    await around.set('long', JSON.stringify('naïve 😀 '.repeat(1_000)), 60_000);
    await around.set('short', '1', 60_000);
    assert.ok((within.get('long') as string).length < 500);
    assert.equal(within.get('short'), '1');
    assert.equal(around.get('long'), JSON.stringify('naïve 😀 '.repeat(1_000)));
  });
});

describe('compressed(tieredStore())', { skip }, () => {
  let client: Redis;
  let tiered: TieredStore;
  before(async () => {
    client = new Redis((server as RedisServer).url);
    await client.ping();
    tiered = tieredStore(client, { keyPrefix: 'packed:' });
    await until('the invalidations', () => tiered.isCoherent);
  });
  after(async () => {
    tiered.close();
    await client.quit();
  });
  storeContract(() => compressed(tiered, { minLength: 1 }));

  it('renews what is stale, in its place', async (t) => {
    const clock = clockOf(t);
    const cache = new JsonCache({
      store: compressed(tiered, { minLength: 1 }),
      logger: false,
      timeoutMs: 30_000,
    });
    const ask = async (made: number): Promise<string> => {
      const answer = await cache.answer('/stale', () => made, { ttl: 1, stale: 60_000 });
      assert.ok(answer instanceof Answer);
      return answer.json;
    };
    for (const made of [1, 2, 3]) {
      // The claim of a renewal ends by the clock of Redis.
      await until('it is renewed', async () => (await ask(made)) === String(made));
      await until('it is stored', () => cache.stats.stores === made);
      clock.advance(20);
    }
    assert.equal(cache.stats.stores, 3);
  });
});
