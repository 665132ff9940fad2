import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Answer, shared } from '../answer/answer.ts';
import { JsonCache } from '../cache/json-cache.ts';
import type { JsonStore } from '../store/json-store.ts';

/* On a busy machine a store is late without being down. */
function patientCache(store: JsonStore, keyPrefix = ''): JsonCache {
  return new JsonCache({ store, keyPrefix, logger: false, timeoutMs: 30_000 });
}

function textOf(outcome: unknown): string {
  return outcome instanceof Answer ? outcome.json : String(outcome);
}

/**
 * Registers the contract of every store with the cache as `node:test` tests. `store` is called within them, and each call may
 * return the same store. A store without `tags` or `clear` skips the tests of those.
 *
 * @example
 * ```ts
 * describe('MyStore', () => storeContract(() => new MyStore()));
 * ```
 */
export function storeContract(store: () => JsonStore): void {
  const freshKey = (): string => `/${randomUUID()}`;

  describe('as every store', () => {
    it('has nothing under a key that was never set', async () => {
      assert.equal((await store().get(freshKey())) ?? undefined, undefined);
    });

    it('gives back what was set, to the character', async () => {
      const key = freshKey();
      const raw = '{"text":"naïve 日本 😀 \\u2028","empty":""}\t\r\t';
      await store().set(key, raw, 60_000);
      assert.equal(await store().get(key), raw);
    });

    it('keeps the last of two values', async () => {
      const key = freshKey();
      await store().set(key, '1', 60_000);
      await store().set(key, '2', 60_000);
      assert.equal(await store().get(key), '2');
    });

    it('forgets a value when its time is up', async () => {
      const key = freshKey();
      await store().set(key, '1', 40);
      await sleep(120);
      assert.equal((await store().get(key)) ?? undefined, undefined);
    });

    it('gives a value that is set again its new time', async () => {
      const key = freshKey();
      await store().set(key, '1', 40);
      await store().set(key, '2', 60_000);
      await sleep(120);
      assert.equal(await store().get(key), '2');
    });

    it('forgets a deleted key, and no other', async () => {
      const [key, other] = [freshKey(), freshKey()];
      await store().set(key, '1', 60_000);
      await store().set(other, '2', 60_000);
      await store().delete(key);
      assert.equal((await store().get(key)) ?? undefined, undefined);
      assert.equal(await store().get(other), '2');
    });

    it('takes the deletion of a key that was never set', async () => {
      await store().delete(freshKey());
    });

    it('tells keys apart that differ in their last character', async () => {
      const key = freshKey();
      await store().set(`${key}?page=1`, '1', 60_000);
      await store().set(`${key}?page=2`, '2', 60_000);
      assert.equal(await store().get(`${key}?page=1`), '1');
    });

    it('tells keys apart that are the same in UTF-8', async () => {
      const key = freshKey();
      await store().set(`${key}\ud800`, '1', 60_000);
      await store().set(`${key}\ud801`, '2', 60_000);
      assert.equal(await store().get(`${key}\ud800`), '1');
      assert.equal((await store().get(`${key}\ufffd`)) ?? undefined, undefined);
      assert.equal((await store().get(JSON.stringify(`${key}\ud800`))) ?? undefined, undefined);
      await store().delete(`${key}\ud800`);
      assert.equal((await store().get(`${key}\ud800`)) ?? undefined, undefined);
      assert.equal(await store().get(`${key}\ud801`), '2');
    });

    it('takes keys of any characters and 8 KiB', async () => {
      const key = `${freshKey()}?q=${'é:*{}\r\n '.repeat(1_024)}`;
      await store().set(key, '1', 60_000);
      assert.equal(await store().get(key), '1');
    });

    it('serves a cache: one run of the producer, then the same bytes', async () => {
      const cache = patientCache(store());
      const key = freshKey();
      const value = { text: 'naïve 日本 😀', list: [1, null, true] };
      const first = await cache.answer(key, () => value);
      const second = await cache.answer(key, () => assert.fail('produced twice'));
      assert.equal(first, JSON.stringify(value));
      assert.equal(second, first);
      // The second call may come before the store has taken the first value.
      assert.equal(cache.stats.hits + cache.stats.shared, 1);
      assert.equal(cache.stats.misses, 1);
    });

    it('runs the producer once for 200 callers at once', async () => {
      const cache = patientCache(store());
      const key = freshKey();
      let runs = 0;
      const answers = await Promise.all(
        Array.from({ length: 200 }, () =>
          cache.answer(key, async () => {
            runs += 1;
            await sleep(20);
            return { runs };
          }),
        ),
      );
      assert.equal(runs, 1);
      assert.deepEqual(new Set(answers), new Set(['{"runs":1}']));
      assert.equal(cache.stats.misses, 1);
      assert.equal(cache.stats.shared, 199);
    });

    for (const garbage of ['', 'not json', '{"cut":"sho', 'garbage\n', '<html></html>']) {
      it(`has ${JSON.stringify(garbage)} replaced, which is not JSON`, async () => {
        const cache = patientCache(store());
        const key = freshKey();
        await store().set(key, garbage, 60_000);
        assert.equal(await cache.answer(key, () => ({ good: true })), '{"good":true}');
        assert.equal(cache.stats.invalid, 1);
        assert.equal(cache.stats.misses, 1);
        assert.equal(await cache.answer(key, () => assert.fail('not replaced')), '{"good":true}');
      });
    }

    it('has JSON that someone else wrote answered as it is', async () => {
      const cache = patientCache(store());
      const key = freshKey();
      await store().set(key, '{"by": "hand"}', 60_000);
      assert.equal(await cache.answer(key, () => assert.fail('produced')), '{"by": "hand"}');
    });

    it('keeps the head of an answer beside its text', async () => {
      const cache = patientCache(store());
      const key = freshKey();
      const head = JSON.stringify({ link: '</next>; rel="next"', é: '日本\n' });
      const made = await cache.answer(key, () => shared({ id: 7 }, { head }));
      const kept = await cache.answer(key, () => assert.fail('produced'));
      for (const answer of [made, kept]) {
        assert.ok(answer instanceof Answer);
        assert.equal(answer.json, '{"id":7}');
        assert.equal(answer.head, head);
      }
    });

    it('has an answer that was cut short replaced, with its head', async () => {
      const cache = patientCache(store());
      const key = freshKey();
      await cache.answer(key, () => shared({ id: 7 }, { head: '{"a":1}' }));
      const raw = (await store().get(key)) as string;
      for (const cut of [raw.slice(0, -1), raw.slice(0, 14), raw.slice(-4), `\r\t\r`]) {
        await store().set(key, cut, 60_000);
        assert.equal(await cache.answer(key, () => 1), '1', JSON.stringify(cut));
      }
    });

    it('loses what has a tag that is invalidated, and nothing else', async (test) => {
      if (store().tags === undefined) return test.skip('the store has no tags');
      const cache = patientCache(store());
      const [both, one, none] = [freshKey(), freshKey(), freshKey()];
      const [a, b] = [freshKey(), freshKey()];
      await cache.answer(both, () => 1, { tags: [a, b] });
      await cache.answer(one, () => shared(1, { tags: [b] }), { tags: true });
      await cache.answer(none, () => 1);
      for (const key of [both, one, none])
        await cache.answer(key, () => assert.fail('not kept'), { tags: true });
      await cache.invalidate(a);
      assert.equal(textOf(await cache.answer(both, () => 2, { tags: [a, b] })), '2');
      assert.equal(textOf(await cache.answer(one, () => assert.fail('lost'))), '1');
      assert.equal(cache.stats.invalidated, 1);
      await cache.invalidate([a, b]);
      assert.equal(textOf(await cache.answer(one, () => 3, { tags: [b] })), '3');
      assert.equal(await cache.answer(none, () => assert.fail('lost')), '1');
      assert.equal(textOf(await cache.answer(one, () => assert.fail('not kept'))), '3');
    });

    it('shares its tags with every cache that has the store', async (test) => {
      if (store().tags === undefined) return test.skip('the store has no tags');
      const common = store();
      const [one, other] = [patientCache(common), patientCache(common)];
      const [key, tag] = [freshKey(), freshKey()];
      await one.answer(key, () => 1, { tags: [tag] });
      await other.invalidate(tag);
      assert.equal(textOf(await one.answer(key, () => 2, { tags: [tag] })), '2');
    });

    it('notices a tag that another cache invalidates after any number of hits', async (test) => {
      if (store().tags === undefined) return test.skip('the store has no tags');
      const common = store();
      const [one, other] = [patientCache(common), patientCache(common)];
      const [key, tag, unused] = [freshKey(), freshKey(), freshKey()];
      for (const value of [1, 2, 3]) {
        const made = await one.answer(key, () => value, { tags: [tag] });
        assert.equal(textOf(made), String(value));
        for (let hits = 0; hits < 5; hits++) {
          assert.equal(textOf(await one.answer(key, () => assert.fail('lost'))), String(value));
          if (hits === 2) await other.invalidate(unused);
        }
        await other.invalidate(tag);
      }
    });

    it('keeps no answer that was being made when one of its tags was invalidated by anybody', async (test) => {
      if (store().tags === undefined) return test.skip('the store has no tags');
      const common = store();
      const [one, other] = [patientCache(common), patientCache(common)];
      const [key, tag] = [freshKey(), freshKey()];
      const { promise, resolve } = Promise.withResolvers<number>();
      const isRunning = Promise.withResolvers<void>();
      const old = one.answer(
        key,
        async () => {
          isRunning.resolve();
          return shared(await promise, { tags: [tag] });
        },
        { tags: true },
      );
      await isRunning.promise;
      await other.invalidate(tag);
      resolve(1);
      assert.equal(textOf(await old), '1');
      assert.equal(textOf(await one.answer(key, () => 2, { tags: [tag] })), '2');
    });

    it('forgets all of a cache that is cleared, and nothing of another', async (test) => {
      if (store().clear === undefined) return test.skip('the store has no clear()');
      const prefix = `a*[b]?\\${freshKey()}`;
      const mine = patientCache(store(), `${prefix}1`);
      const another = patientCache(store(), `${prefix}2`);
      for (const cache of [mine, another]) await cache.set('a', 1);
      await mine.set('\ud800', 1);
      await mine.clear();
      assert.deepEqual(await mine.getMany(['a', '\ud800']), [undefined, undefined]);
      assert.equal(await another.get('a'), 1);
    });

    it('gives a lease to one at a time, and keeps nothing of who has lost his', async (test) => {
      const common = store();
      if (common.lease === undefined) return test.skip('the store has no leases');
      const key = freshKey();
      const first = await common.lease(key);
      assert.ok(first !== 'made');
      assert.equal((await common.get(key)) ?? undefined, undefined);
      await common.delete(key);
      const second = await common.lease(key);
      assert.ok(second !== 'made');
      const third = common.lease(key);
      assert.equal(await first.keep('1', 60_000), false);
      assert.equal(await second.keep('2', 60_000), true);
      assert.equal(await third, 'made');
      assert.equal(await common.get(key), '2');
    });

    it('grants a claim once, until it is deleted', async (test) => {
      const common = store();
      if (common.claim === undefined) return test.skip('the store has no claim()');
      const key = freshKey();
      const asked = await Promise.all([1, 2, 3].map(() => common.claim!(key, 60_000)));
      assert.deepEqual(asked.toSorted(), [false, false, true]);
      assert.equal(await common.claim(key, 60_000), false);
      await common.delete(key);
      assert.equal(await common.claim(key, 60_000), true);
    });

    it('replaces the value that it is given, and no other', async (test) => {
      const common = store();
      if (common.replace === undefined) return test.skip('the store has no replace()');
      const key = freshKey();
      await common.set(key, '{}\nolder', 60_000);
      assert.equal(await common.replace(key, '\nother', '{}\nnewer', 60_000), false);
      assert.equal(await common.get(key), '{}\nolder');
      assert.equal(await common.replace(key, '\nolder', '{}\nnewer', 60_000), true);
      assert.equal(await common.get(key), '{}\nnewer');
      await common.delete(key);
      assert.equal(await common.replace(key, '\nnewer', '{}', 60_000), false);
    });

    it('loses a key that the cache deletes', async () => {
      const cache = patientCache(store());
      const key = freshKey();
      await cache.answer(key, () => 1);
      await cache.delete(key);
      assert.equal(await cache.answer(key, () => 2), '2');
    });
  });
}
