import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Answer, due, JsonCache, memoryStore, shared, type JsonStore } from '../src/index.ts';
import { clocksOf } from './clock.ts';

/** A store that answers later, as Redis does. */
function laterStore(): JsonStore & { down: boolean } {
  const store = memoryStore();
  const { tags } = store;
  return {
    down: false,
    async get(key) {
      if (this.down) throw new Error('down');
      return store.get(key);
    },
    set: (key, raw, ttl) => store.set(key, raw, ttl),
    delete: (key) => store.delete(key),
    tags: {
      epoch: undefined,
      ticket: () => tags.ticket(),
      read: async (names) => tags.read(names),
      open: (names) => tags.open(names),
      invalidate: (names) => tags.invalidate(names),
    },
  };
}

for (const [name, makeStore] of [
  ['a store in the process', memoryStore],
  ['a store elsewhere', laterStore],
] as const) {
  const cacheOver = (): JsonCache => new JsonCache({ store: makeStore(), logger: false });

  describe(`peek, over ${name}`, () => {
    it('finds what was kept, counts it as a hit, and nothing else as anything', async () => {
      const cache = cacheOver();
      assert.equal(await cache.peek('a'), undefined);
      assert.deepEqual({ ...cache.stats, misses: 0 }, { ...new JsonCache().stats });
      await cache.answer('a', () => ({ id: 1 }));
      const found = cache.peek('a');
      assert.equal(found instanceof Promise, name !== 'a store in the process');
      assert.equal(await found, '{"id":1}');
      assert.equal(cache.stats.hits, 1);
    });

    it('does not find what was invalidated, and leaves the counting to answer', async () => {
      const cache = cacheOver();
      const make = (): unknown => cache.answer('a', () => ({ id: 1 }), { tags: ['t'] });
      await make();
      assert.ok((await cache.peek('a', { tags: ['t'] })) instanceof Answer);
      await cache.invalidate('t');
      assert.equal(await cache.peek('a', { tags: ['t'] }), undefined);
      assert.equal(cache.stats.invalidated, 0);
      await make();
      assert.equal(cache.stats.invalidated, 1);
    });

    it('gives out the old response while another makes a new one, and only then', async (t) => {
      const clock = clocksOf(t);
      const cache = cacheOver();
      const options = { ttl: 10_000, stale: 60_000 };
      await cache.answer('a', () => 1, options);
      clock.advance(20_000);
      assert.equal(await cache.peek('a', options), undefined);
      const { promise, resolve } = Promise.withResolvers<number>();
      const begun = Promise.withResolvers<void>();
      const make = (): Promise<number> => {
        begun.resolve();
        return promise;
      };
      const renewing = cache.answer('a', make, options);
      await begun.promise;
      const old = await cache.peek('a', options);
      assert.ok(old instanceof Answer);
      assert.deepEqual([old.json, old.source], ['1', 'stale']);
      resolve(2);
      await renewing;
      assert.equal(((await cache.peek('a', options)) as Answer).json, '2');
      assert.equal(cache.stats.stale, 1);
    });

    it('says that an early renewal is due, which answer then makes', async (t) => {
      const cache = cacheOver();
      const clock = clocksOf(t);
      const options = { ttl: 60_000, early: true };
      const make = async (): Promise<number> => {
        clock.advance(5);
        return 1;
      };
      await cache.answer('a', make, options);
      assert.ok((await cache.peek('a', options)) instanceof Answer);
      t.mock.method(Math, 'random', () => 1 - Number.MIN_VALUE ** 0.9);
      t.mock.method(Math, 'log', () => -Infinity);
      assert.equal(await cache.peek('a', options), due);
      t.mock.restoreAll();
      let runs = 0;
      await cache.answer('a', () => (runs += 1), { ...options, early: 'now' });
      assert.equal(runs, 1);
    });
  });
}

describe('peek', () => {
  it('finds nothing during an outage, and never rejects', async () => {
    const store = laterStore();
    const cache = new JsonCache({ store, logger: false });
    await cache.answer('a', () => 1);
    store.down = true;
    assert.equal(await cache.peek('a'), undefined);
    assert.equal(cache.isStoreDown, true);
    assert.equal(await cache.peek('a'), undefined);
    cache.close();
  });

  it('finds the head of a response with it', async () => {
    const cache = new JsonCache();
    await cache.answer('a', () => shared(1, { head: 'h' }));
    assert.equal(((await cache.peek('a')) as Answer).head, 'h');
  });
});
