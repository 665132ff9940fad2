import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRedis } from '@redline/services';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import {
  JsonCache,
  memoryStore,
  redisStore,
  tieredStore,
  type AnswerOptions,
  type JsonStore,
} from '../src/index.ts';
import { clockOf } from './clock.ts';
import { until } from '@redline/services/until';

const server = await startRedis();
const skip = server === undefined && 'there is no redis-server on PATH';
after(() => server?.stop());

const options: AnswerOptions = { ttl: 1_000, stale: 60_000, renew: 'behind' };

describe("A response with renew: 'behind'", () => {
  it('is given to everyone at once, and made once behind that', async (t) => {
    const clock = clockOf(t);
    const cache = new JsonCache({ logger: false });
    let runs = 0;
    let finish = (): void => {};
    const produce = async (): Promise<number> => {
      runs += 1;
      if (runs > 1) await new Promise<void>((resolve) => (finish = resolve));
      return runs;
    };
    assert.equal(await cache.wrap('key', produce, options), 1);
    clock.advance(1_500);
    for (let count = 0; count < 3; count += 1)
      assert.equal(await cache.wrap('key', produce, options), 1);
    await until('it is being made', () => runs === 2);
    assert.equal(await cache.wrap('key', produce, options), 1);
    finish();
    await until('it is kept', () => cache.stats.stores === 2);
    assert.equal(await cache.wrap('key', produce, options), 2);
    assert.equal(runs, 2);
    assert.deepEqual([cache.stats.misses, cache.stats.stale, cache.stats.hits], [1, 4, 1]);
  });

  it('is waited for as long as patience lasts', async (t) => {
    const clock = clockOf(t);
    const cache = new JsonCache({ logger: false });
    let runs = 0;
    const quick = (): number => (runs += 1);
    const patient: AnswerOptions = { ...options, patience: 60_000 };
    assert.equal(await cache.wrap('key', quick, patient), 1);
    clock.advance(1_500);
    assert.equal(await cache.wrap('key', quick, patient), 2);
    clock.advance(1_500);
    const never = (): Promise<never> => new Promise(() => {});
    assert.equal(await cache.wrap('key', never, { ...options, patience: 1 }), 2);
    await assert.rejects(
      cache
        .wrap('other', () => 1, { ...options, patience: 0.5 })
        .then(async () => {
          clock.advance(1_500);
          return cache.wrap('other', () => 1, { ...options, patience: 0.5 });
        }),
      { code: 'ERR_REDLINE_CACHE_OPTION' },
    );
  });

  it('stays the old one if its renewal fails, which is logged once', async (t) => {
    const clock = clockOf(t);
    const lines: string[] = [];
    const push = (line: string): void => void lines.push(line);
    const cache = new JsonCache({ logger: { warn: push, log: push } });
    await cache.wrap('key', () => 1, options);
    clock.advance(1_500);
    let runs = 0;
    const fail = (): never => {
      runs += 1;
      throw new Error('no database');
    };
    for (const count of [1, 2, 3]) {
      assert.equal(await cache.wrap('key', fail, options), 1);
      await until('it has failed', () => runs === count);
      await new Promise(setImmediate);
    }
    assert.deepEqual(lines, ['The renewal of "key" behind its responses failed: no database']);
  });

  it('is not kept where its tag is invalidated meanwhile', async (t) => {
    const clock = clockOf(t);
    const cache = new JsonCache({ logger: false });
    const tagged: AnswerOptions = { ...options, tags: ['tag'] };
    await cache.wrap('key', () => 1, tagged);
    clock.advance(1_500);
    let finish = (_value: number): void => {};
    const slow = (): Promise<number> => new Promise((resolve) => (finish = resolve));
    assert.equal(await cache.wrap('key', slow, tagged), 1);
    await cache.invalidate('tag');
    finish(2);
    assert.equal(await cache.wrap('key', () => 3, tagged), 3);
  });
});

describe('A renewal that waits for its claim', () => {
  for (const [how, more] of [
    ['behind', { renew: 'behind' }],
    ['by its caller', {}],
  ] as const)
    it(`does not begin beside a run that a delete has to reach, ${how}`, async (t) => {
      const clock = clockOf(t);
      const memory = memoryStore();
      const claimed = Promise.withResolvers<boolean>();
      let old: string | undefined;
      const store: JsonStore = {
        get: async (key) => memory.get(key) ?? old,
        set: async (key, raw, ttl) => memory.set(key, raw, ttl),
        delete: async (key) => memory.delete(key),
        claim: () => claimed.promise,
      };
      const cache = new JsonCache({ store, logger: false, timeoutMs: 30_000 });
      const wanted: AnswerOptions = { ttl: 1_000, stale: 60_000, ...more };
      await cache.wrap('key', () => 1, wanted);
      await until('it is kept', () => cache.stats.stores === 1);
      const kept = memory.get('key');
      clock.advance(1_500);
      let renewed = 0;
      const first = cache.wrap('key', () => (renewed += 1), wanted);
      await new Promise(setImmediate);
      await cache.delete('key');
      const gate = Promise.withResolvers<number>();
      const second = cache.wrap('key', () => gate.promise, wanted);
      await until('it has missed', () => cache.stats.misses === 2);
      // As from a replica that lags, or from a read just before the delete.
      old = kept;
      claimed.resolve(true);
      await first;
      await new Promise(setImmediate);
      old = undefined;
      await cache.delete('key');
      gate.resolve(2);
      assert.equal(await second, 2);
      assert.deepEqual([await cache.get('key'), renewed], [undefined, 0]);
    });
});

describe("Processes that share a store, with renew: 'behind'", { skip }, () => {
  const stores: Readonly<Record<string, (port: number) => Promise<[JsonStore, () => void]>>> = {
    async redisStore(port) {
      const client = new Redis(port);
      await once(client, 'ready');
      return [redisStore(client, { keyPrefix: 'one:' }), () => client.disconnect()];
    },
    async 'redisStore of node-redis'(port) {
      const client = await createClient({ socket: { port } }).connect();
      return [redisStore(client, { keyPrefix: 'two:' }), () => client.destroy()];
    },
    async tieredStore(port) {
      const client = new Redis(port);
      await once(client, 'ready');
      return [tieredStore(client, { keyPrefix: 'three:' }), () => client.disconnect()];
    },
  };
  for (const [name, open] of Object.entries(stores)) {
    it(`renew each key once where a caller makes the new one, over ${name}`, async (t) => {
      const clock = clockOf(t);
      const opened = await Promise.all([1, 2, 3].map(() => open(server!.port)));
      const caches = opened.map(
        ([store]) => new JsonCache({ store, logger: false, timeoutMs: 10_000 }),
      );
      t.after(() => {
        for (const cache of caches) cache.close();
        for (const [, close] of opened) close();
      });
      const waiting: AnswerOptions = { ttl: 1_000, stale: 60_000 };
      await caches[0]!.wrap('caller', () => 1, waiting);
      clock.advance(1_500);
      const gate = Promise.withResolvers<number>();
      let runs = 0;
      const produce = (): Promise<number> => {
        runs += 1;
        return gate.promise;
      };
      const given: number[] = [];
      const asked = Array.from({ length: 30 }, (_, index) =>
        caches[index % 3]!.wrap('caller', produce, waiting).then((value) => given.push(value)),
      );
      await until('all but one have the old one', () => given.length === 29);
      assert.deepEqual(new Set(given), new Set([1]));
      gate.resolve(2);
      await Promise.all(asked);
      assert.deepEqual([given.at(-1), runs], [2, 1]);
      // After a failure the next caller tries again.
      clock.advance(1_500);
      await until('the claim has ended', async () => {
        const fail = (): never => {
          runs += 1;
          throw new Error('no database');
        };
        // 1 until this process learns that it was replaced.
        assert.ok([1, 2].includes(await caches[1]!.wrap('caller', fail, waiting)));
        return runs === 2;
      });
      await until('another process has made it', async () => {
        return (await caches[2]!.wrap('caller', () => 3, waiting)) === 3;
      });
    });

    it(`renew each key once, over ${name}`, async (t) => {
      const clock = clockOf(t);
      const opened = await Promise.all([1, 2, 3].map(() => open(server!.port)));
      const caches = opened.map(
        ([store]) => new JsonCache({ store, logger: false, timeoutMs: 10_000 }),
      );
      try {
        for (let round = 1; round <= 3; round += 1) {
          let runs = 0;
          const produce = async (): Promise<number> => {
            runs += 1;
            // Long enough for the processes to ask meanwhile.
            await sleep(20);
            return round;
          };
          if (round === 1) await caches[0]!.wrap('key', produce, options);
          else {
            const asked = Array.from({ length: 30 }, (_, index) =>
              caches[index % 3]!.wrap('key', produce, options),
            );
            assert.deepEqual(new Set(await Promise.all(asked)), new Set([round - 1]));
            const isNew = async (): Promise<boolean> =>
              (await Promise.all(caches.map((cache) => cache.wrap('key', produce, options)))).every(
                (value) => value === round,
              );
            await until('the new value everywhere', isNew);
          }
          assert.equal(runs, 1, `round ${round}`);
          clock.advance(1_500);
          // The claim of a round ends by the clock of Redis.
          if (round < 3) await sleep(1_100);
        }
      } finally {
        for (const cache of caches) cache.close();
        for (const [, close] of opened) close();
      }
    });
  }
});
