import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Found, JsonStore } from '../src/store/json-store.ts';
import { JsonCache } from '../src/cache/json-cache.ts';
import { clocksOf } from './clock.ts';

// The timers of the cache do not keep the process up.
const alive = setInterval(() => {}, 1_000);
after(() => clearInterval(alive));

/** A store whose answers the test gives by hand. */
class ManualStore implements JsonStore {
  readonly gets: ((found: Found) => void)[] = [];
  readonly sets: (() => void)[] = [];
  get = (): Promise<Found> => new Promise((resolve) => this.gets.push(resolve));
  set = (): Promise<void> => new Promise((resolve) => this.sets.push(resolve));
  delete = (): Promise<void> => Promise.resolve();
}

describe('Two callers of one key', () => {
  it('each ask the store: a later one is not given what an earlier one found', async () => {
    const store = new ManualStore();
    const cache = new JsonCache({ store, logger: false });
    const early = cache.answer('/a', () => assert.fail('produced'));
    const late = cache.answer('/a', () => assert.fail('produced'));
    assert.equal(store.gets.length, 2);
    store.gets[0]!('"old"');
    store.gets[1]!('"new"');
    assert.deepEqual(await Promise.all([early, late]), ['"old"', '"new"']);
    assert.equal(cache.stats.hits, 2);
  });

  it('share a run though one learns that there is nothing only after it is done', async () => {
    const store = new ManualStore();
    const cache = new JsonCache({ store, logger: false });
    let runs = 0;
    const produce = (): number => ++runs;
    const early = cache.answer('/a', produce);
    const late = cache.answer('/a', produce);
    store.gets[0]!(undefined);
    assert.equal(await early, '1');
    // The lookup of the late one was sent before the answer was stored, so it finds nothing.
    store.gets[1]!(undefined);
    assert.equal(await late, '1');
    assert.equal(cache.stats.misses, 1);
    assert.equal(cache.stats.shared, 1);
  });

  it('share no longer once the store has taken the answer', async () => {
    const store = new ManualStore();
    const cache = new JsonCache({ store, logger: false });
    const first = cache.answer('/a', () => 1);
    store.gets[0]!(undefined);
    assert.equal(await first, '1');
    store.sets[0]!();
    await nextTurn();
    const second = cache.answer('/a', () => assert.fail('produced'));
    assert.equal(store.gets.length, 2);
    store.gets[1]!('1');
    assert.equal(await second, '1');
  });

  it('wait for a slow store as long as it may take, counted from their own question', async (t) => {
    const clock = clocksOf(t);
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const store = new ManualStore();
    const cache = new JsonCache({ store, logger: false, timeoutMs: 5_000 });
    for (const round of [0, 1]) {
      const answer = cache.answer('/a', () => assert.fail('produced'));
      clock.advance(4_000);
      t.mock.timers.tick(4_000);
      await nextTurn();
      assert.equal(cache.isStoreDown, false);
      store.gets[round]!('1');
      assert.equal(await answer, '1');
    }
  });

  it('share no longer than the store may take to answer, when it never takes the answer', async () => {
    const store = new ManualStore();
    const cache = new JsonCache({ store, logger: false, timeoutMs: 20 });
    const first = cache.answer('/a', () => 1);
    store.gets[0]!(undefined);
    assert.equal(await first, '1');
    while (!cache.isStoreDown) await nextTurn();
    await nextTurn();
    assert.equal(await cache.answer('/a', () => 2), '2');
    assert.equal(cache.stats.storeErrors, 1);
    cache.close();
  });
});
