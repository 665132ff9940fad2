import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, describe, it } from 'node:test';
import { startRedis } from '@redline/services';
import { Redis } from 'ioredis';
import {
  compressed,
  JsonCache,
  memoryStore,
  redisStore,
  tieredStore,
  type JsonStore,
} from '../src/index.ts';
import { headKeyOf, keysOf, keyOf } from '../src/route/key/request-key.ts';
import { until } from '@redline/services/until';

const server = await startRedis();
after(() => server?.stop());

const stores: Record<string, (client: Redis | undefined) => JsonStore | undefined> = {
  memoryStore: () => memoryStore(),
  'compressed memoryStore': () => compressed(memoryStore()),
  redisStore: (client) => client && redisStore(client, { keyPrefix: 'a*[:' }),
  tieredStore: (client) => client && tieredStore(client, { keyPrefix: 'b:' }),
};

const keyFor = (url: string, host = 'a', caller?: string): string =>
  keysOf(url, { hosts: [host], caller, prefix: undefined }).find((key) => key.startsWith('3:url'))!;

for (const [name, open] of Object.entries(stores)) {
  describe(`purge, with ${name}`, () => {
    it('deletes the responses to a URL, or to all that begin alike, and nothing else', async (t) => {
      const client = server && new Redis(server.port, { keyPrefix: 'own:' });
      t.after(() => client?.disconnect());
      if (client !== undefined) await once(client, 'ready');
      const store = open(client);
      if (store === undefined) return t.skip('there is no redis-server on PATH');
      const cache = new JsonCache({ store, keyPrefix: 'app:', logger: false, timeoutMs: 30_000 });
      t.after(() => cache.close());
      const keys = {
        seven: keyFor('/articles/7'),
        'seven, as HEAD': headKeyOf(keyFor('/articles/7')),
        'seven of another host': keyFor('/articles/7', 'b'),
        'seven of a caller': keyFor('/articles/7', 'a', 'me'),
        'seven with a query': keyFor('/articles/7?a=1'),
        'seven, not well-formed': keyFor('/articles/7', 'a', '\ud800'),
        seventy: keyFor('/articles/70'),
        other: keyFor('/other'),
        value: keyOf('value', '/articles/7'),
        'own key': keyOf('key', undefined, undefined, '/articles/7'),
        'a key like one': `${keyFor('/articles/7')}x`,
        'a text': '/articles/7',
      };
      const fill = async (): Promise<void> => {
        for (const key of Object.values(keys)) await cache.set(key, 1);
      };
      const kept = async (): Promise<string[]> => {
        const found: string[] = [];
        for (const [what, key] of Object.entries(keys))
          if ((await cache.get(key)) !== undefined) found.push(what);
        return found;
      };
      await fill();
      assert.deepEqual(await kept(), Object.keys(keys));
      await cache.purge({ url: '/articles/7' });
      const others = ['other', 'value', 'own key', 'a key like one', 'a text'];
      assert.deepEqual(await kept(), ['seven with a query', 'seventy', ...others]);
      await fill();
      await cache.purge({ prefix: '/articles/' });
      assert.deepEqual(await kept(), others);
    });

    it('keeps nothing that is being made meanwhile', async (t) => {
      const client = server && new Redis(server.port, { keyPrefix: 'other:' });
      t.after(() => client?.disconnect());
      if (client !== undefined) await once(client, 'ready');
      const store = open(client);
      if (store === undefined) return t.skip('there is no redis-server on PATH');
      const cache = new JsonCache({ store, logger: false, timeoutMs: 30_000 });
      t.after(() => cache.close());
      const begun = Promise.withResolvers<void>();
      const gate = Promise.withResolvers<number>();
      const key = keyFor('/articles/7');
      const making = cache.wrap(key, () => {
        begun.resolve();
        return gate.promise;
      });
      await begun.promise;
      await cache.purge({ prefix: '/' });
      gate.resolve(1);
      assert.equal(await making, 1);
      assert.equal(await cache.get(key), undefined);
    });
  });
}

describe('purge', () => {
  it('is refused without a URL, with two, and by a store that cannot', async () => {
    const cache = new JsonCache({ logger: false });
    const code = 'ERR_REDLINE_CACHE_OPTION';
    for (const wrong of [{}, { url: '/', prefix: '/' }, { url: 7 }, { urls: '/' }] as never[])
      await assert.rejects(cache.purge(wrong), { code });
    const { get, set, delete: remove } = memoryStore();
    const store: JsonStore = { get, set, delete: remove };
    const poor = new JsonCache({ store, logger: false });
    await assert.rejects(poor.purge({ url: '/' }), { code, message: /purge/ });
  });
});

for (const [name, open] of Object.entries(stores)) {
  describe(`A soft invalidation, with ${name}`, () => {
    it('leaves what has stale until there is a new one, and no longer than stale', async (t) => {
      const clients = [1, 2].map(() => server && new Redis(server.port, { keyPrefix: 'soft:' }));
      t.after(() => {
        for (const client of clients) client?.disconnect();
      });
      await Promise.all(clients.map((client) => client && once(client, 'ready')));
      const own = clients.map((client) => open(client));
      if (own[0] === undefined) return t.skip('there is no redis-server on PATH');
      // The memory of a process is its own.
      const [one, two] = (name.includes('memory') ? [own[0], own[0]] : own).map(
        (store) => new JsonCache({ store: store!, logger: false, timeoutMs: 30_000 }),
      ) as [JsonCache, JsonCache];
      t.after(() => (one.close(), two.close()));
      const options = { ttl: 60_000, stale: 60_000, tags: ['tag'], renew: 'behind' } as const;
      const gate = Promise.withResolvers<number>();
      await one.wrap('kept', () => 1, options);
      await one.wrap('gone', () => 1, { ttl: 60_000, tags: ['tag'] });
      assert.equal(await two.wrap('kept', () => 0, options), 1);
      await one.invalidate('tag', { soft: true });
      assert.equal(await two.wrap('kept', () => gate.promise, options), 1);
      assert.equal(await one.wrap('kept', () => gate.promise, options), 1);
      assert.equal(await one.get('kept'), undefined);
      assert.equal(await one.get('gone'), undefined);
      // The other process hears of it a moment later.
      await until('both are outdated', async () => {
        const values = [await two.get('kept'), await two.get('gone')];
        return values.every((value) => value === undefined);
      });
      gate.resolve(2);
      for (const cache of [one, two])
        await until('it is new', async () => (await cache.wrap('kept', () => 9, options)) !== 1);
      for (const cache of [one, two]) assert.equal(await cache.wrap('kept', () => 9, options), 2);
      await one.invalidate('tag');
      assert.equal(await one.wrap('kept', () => 3, options), 3);
      await one.invalidate('tag', { soft: true });
      await one.invalidate('tag');
      assert.equal(await one.wrap('kept', () => 4, options), 4);
      await assert.rejects(one.invalidate('tag', { soften: true } as never), {
        code: 'ERR_REDLINE_CACHE_OPTION',
      });
    });
  });
}
