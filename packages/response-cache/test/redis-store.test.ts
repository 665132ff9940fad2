import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { startRedis, type RedisServer } from '@redline/services';
import { Redis } from 'ioredis';
import { JsonCache } from '../src/cache/json-cache.ts';
import { redisStore } from '../src/redis/redis-store.ts';
import { storeContract } from '../src/testing/store-contract.ts';

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
        assert.equal(await client.get('redline:json:shop:/prefixed'), '1\t\r\t');
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
        assert.equal(await client.get('redline:json:/list'), '{"good":true}\t\r\t');
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
    while (cache.isStoreDown) await new Promise((resolve) => setTimeout(resolve, 10));
    await cache.answer('/lazy', () => 2);
    assert.equal(cache.stats.misses, 1);
    await client.quit();
    cache.close();
  });
});

after(() => server?.stop());
