import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { JsonCache } from '../src/cache/json-cache.ts';
import { clocksOf } from './clock.ts';

const quietCache = (): JsonCache => new JsonCache({ logger: false });

describe('A value', () => {
  it('is given back as it was set: what JSON can say, strings among it', async () => {
    const cache = quietCache();
    for (const value of ['text', '', 0, false, null, [1, { a: 'b' }]]) {
      await cache.set('key', value);
      assert.deepEqual(await cache.get('key'), value);
    }
    assert.equal(await cache.get('another'), undefined);
    assert.deepEqual(await cache.getMany(['key', 'another']), [[1, { a: 'b' }], undefined]);
  });

  for (const value of [undefined, () => {}, Symbol('s')]) {
    it(`is refused where it has no JSON: ${typeof value}`, async () => {
      await assert.rejects(quietCache().set('key', value), { code: 'ERR_REDLINE_CACHE_NOT_JSON' });
      await assert.rejects(
        quietCache().wrap('key', () => value),
        { code: 'ERR_REDLINE_CACHE_NOT_JSON' },
      );
    });
  }

  it('is not replaced by what was being made for its key when it was set', async () => {
    const cache = quietCache();
    const { promise, resolve } = Promise.withResolvers<string>();
    const old = cache.wrap('key', () => promise);
    await cache.set('key', 'new');
    resolve('old');
    assert.equal(await old, 'old');
    assert.equal(await cache.get('key'), 'new');
  });

  it('goes with its tags', async () => {
    const cache = quietCache();
    await cache.set('a', 1, { tags: ['numbers'] });
    await cache.wrap('b', () => 2, { tags: ['numbers'] });
    await cache.set('c', 3);
    assert.deepEqual(await cache.getMany(['a', 'b', 'c']), [1, 2, 3]);
    await cache.invalidate('numbers');
    assert.deepEqual(await cache.getMany(['a', 'b', 'c']), [undefined, undefined, 3]);
  });

  it('goes when its time is up', async (t) => {
    const clock = clocksOf(t);
    const cache = quietCache();
    await cache.set('a', 1, { ttl: 20 });
    clock.advance(20);
    assert.equal(await cache.get('a'), undefined);
    await assert.rejects(cache.set('a', 1, { ttl: 0 }), { code: 'ERR_REDLINE_CACHE_OPTION' });
  });
});

describe('wrap', () => {
  it('makes a value once for all who ask at once, and gives each a copy of its own', async () => {
    const cache = quietCache();
    let runs = 0;
    const ask = (): Promise<{ runs: number }> =>
      cache.wrap('key', async () => ({ runs: (runs += 1) }));
    const values = await Promise.all([ask(), ask(), ask()]);
    assert.deepEqual(values, [{ runs: 1 }, { runs: 1 }, { runs: 1 }]);
    assert.notEqual(values[0], values[1]);
    assert.deepEqual(await ask(), { runs: 1 });
  });

  it('throws what its producer throws', async () => {
    const failure = new Error('no');
    await assert.rejects(
      quietCache().wrap('key', () => Promise.reject(failure)),
      failure,
    );
  });
});

describe('A store without tags and clear()', () => {
  const cache = new JsonCache({
    store: { get: () => null, set() {}, delete() {} },
    logger: false,
  });

  it('has the cache say so to who uses them', async () => {
    const code = 'ERR_REDLINE_CACHE_OPTION';
    await assert.rejects(cache.invalidate('a'), { code });
    await assert.rejects(cache.clear(), { code });
    await assert.rejects(cache.set('a', 1, { tags: ['a'] }), { code });
    await assert.rejects(async () => cache.answer('a', () => 1, { tags: ['a'] }), { code });
    assert.equal(cache.hasTags, false);
  });
});
