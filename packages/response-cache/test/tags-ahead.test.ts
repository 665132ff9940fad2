// The tags of a hit are read together with its value, and compared with those that the last one under its key had.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Answer } from '../src/answer/answer.ts';
import { JsonCache } from '../src/cache/json-cache.ts';
import type { JsonStore } from '../src/store/json-store.ts';
import { MemoryTagVersions, type TagVersions } from '../src/store/tag-versions.ts';

type Delay = () => Promise<unknown>;
const atOnce: Delay = async () => {};

/** A store in another process: its tags change unseen. */
function makeStore(beforeValue: Delay, beforeTags: Delay) {
  const values = new Map<string, string>();
  const versions = new MemoryTagVersions();
  const tags: TagVersions = {
    // Replies come in the order of their calls: nothing is written before those have read who asked earlier.
    ticket: () => nextTurn(versions.ticket()),
    async read(list) {
      const now = versions.read(list);
      await beforeTags();
      return now;
    },
    open: (list) => nextTurn(versions.open(list)),
    invalidate: async (list) => versions.invalidate(list),
  };
  const store: JsonStore = {
    tags,
    async get(key) {
      const now = values.get(key);
      await beforeValue();
      return now;
    },
    set: (key, raw) => nextTurn(values.set(key, raw)),
    delete: async (key) => void values.delete(key),
  };
  return { store, values, versions };
}

const orders: readonly (readonly [string, Delay, Delay])[] = [
  ['together with them', atOnce, atOnce],
  ['before them', atOnce, nextTurn],
  ['after them', nextTurn, atOnce],
];

for (const [when, beforeValue, beforeTags] of orders) {
  describe(`A value with tags that is read ${when}`, () => {
    const start = async () => {
      const made = makeStore(beforeValue, beforeTags);
      const cache = new JsonCache({ store: made.store, logger: false });
      let runs = 0;
      const ask = async (): Promise<string> => {
        const answer = await cache.answer('a', () => (runs += 1), { tags: ['t'] });
        return answer instanceof Answer ? answer.json : String(answer);
      };
      // The second has read the facts of the first.
      for (let i = 0; i < 2; i++) assert.equal(await ask(), '1');
      return {
        ...made,
        cache,
        ask,
        asks: (n: number) => Promise.all(Array.from({ length: n }, ask)),
      };
    };

    it('is found by all callers of one turn', async () => {
      const { asks, cache } = await start();
      assert.deepEqual(await asks(5), ['1', '1', '1', '1', '1']);
      assert.deepEqual([cache.stats.hits, cache.stats.misses], [6, 1]);
    });

    it('is made again once it was deleted, though its tags are what they were', async () => {
      const { asks, values } = await start();
      values.delete('a');
      assert.deepEqual(await asks(3), ['2', '2', '2']);
      assert.deepEqual(await asks(3), ['2', '2', '2']);
    });

    it('is made again once a tag was invalidated, by whatever process', async () => {
      const { asks, versions, cache } = await start();
      versions.invalidate(['t']);
      assert.deepEqual(await asks(3), ['2', '2', '2']);
      assert.equal(cache.stats.invalidated, 3);
      assert.deepEqual(await asks(3), ['2', '2', '2']);
    });

    it('is that of another process once that has put one in its place', async () => {
      const { asks, values, store } = await start();
      const other = new JsonCache({ store, logger: false, timeoutMs: 30_000 });
      values.delete('a');
      await other.answer('a', () => ({ of: 'another' }), { tags: ['t'] });
      assert.deepEqual(await asks(2), ['{"of":"another"}', '{"of":"another"}']);
      assert.deepEqual(await asks(2), ['{"of":"another"}', '{"of":"another"}']);
    });

    it('is looked at by peek in the same way', async () => {
      const { cache, values, versions } = await start();
      const peek = () => cache.peek('a', { tags: ['t'] });
      for (let i = 0; i < 2; i++) assert.equal(((await peek()) as Answer).json, '1');
      versions.invalidate(['t']);
      assert.equal(await peek(), undefined);
      values.delete('a');
      assert.equal(await peek(), undefined);
    });
  });
}
