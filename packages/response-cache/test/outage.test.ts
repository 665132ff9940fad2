import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { after, describe, it } from 'node:test';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { startRedis, type RedisServer } from '@redline/services';
import { Redis } from 'ioredis';
import { JsonCache } from '../src/cache/json-cache.ts';
import type { JsonStore } from '../src/store/json-store.ts';
import { redisStore } from '../src/redis/redis-store.ts';
import { clocksOf, timersOf } from './clock.ts';
import { until } from '@redline/services/until';

// The timers of the cache do not keep the process up.
const alive = setInterval(() => {}, 1_000);
after(() => clearInterval(alive));

function makeLog(): { lines: string[]; warn(line: string): void; log(line: string): void } {
  const lines: string[] = [];
  return {
    lines,
    warn: (line) => lines.push(`warn ${line}`),
    log: (line) => lines.push(`log ${line}`),
  };
}

/** A store whose answers the test gives by hand. */
function makeManualStore(): JsonStore & {
  waiting: Array<{ answer(found?: string): void; fail(error: Error): void }>;
} {
  const waiting: Array<{ answer(found?: string): void; fail(error: Error): void }> = [];
  return {
    waiting,
    get: () => new Promise((resolve, reject) => waiting.push({ answer: resolve, fail: reject })),
    set() {},
    delete: () => new Promise(() => {}),
  };
}

describe('A store that fails', () => {
  it('costs no answer, is told once, and still has one run for all who ask at once', async () => {
    const log = makeLog();
    const store: JsonStore = {
      get: () => {
        throw new Error('no route to host');
      },
      set() {},
      delete() {},
    };
    const cache = new JsonCache({ store, logger: log });
    let runs = 0;
    const produce = async (): Promise<number> => {
      await nextTurn();
      return (runs += 1);
    };
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => cache.answer('/a', produce)),
    );
    assert.deepEqual(new Set(answers), new Set(['1']));
    assert.equal(await cache.answer('/a', produce), '2');
    assert.equal(cache.stats.bypasses, 2);
    assert.equal(cache.stats.shared, 49);
    assert.equal(cache.isStoreDown, true);
    assert.deepEqual(log.lines, [
      'warn The store of the JSON cache is down, responses are made without it: no route to host',
    ]);
    cache.close();
  });

  it('fails everyone who waits for an answer of it over to their producers', async () => {
    const store = makeManualStore();
    const cache = new JsonCache({ store, logger: false });
    const answers = ['/a', '/b', '/c'].map((key) => cache.answer(key, () => ({ key })));
    store.waiting[1]!.fail(new Error('ECONNRESET'));
    assert.deepEqual(await Promise.all(answers), ['{"key":"/a"}', '{"key":"/b"}', '{"key":"/c"}']);
    assert.equal(cache.stats.bypasses, 3);
    cache.close();
  });

  it('says so to whoever deletes a key', async () => {
    const store: JsonStore = {
      get: () => undefined,
      set() {},
      delete: () => {
        throw new Error('gone');
      },
    };
    const cache = new JsonCache({ store, logger: false });
    await assert.rejects(cache.delete('/a'), { code: 'ERR_REDLINE_CACHE_STORE_DOWN' });
    cache.close();
  });
});

describe('A store that does not answer', () => {
  it('is given up after timeoutMs, and asked by nobody but one probe from then on', async (t) => {
    const log = makeLog();
    const store = makeManualStore();
    const cache = new JsonCache({ store, logger: log, timeoutMs: 50 });
    const pass = timersOf(t, clocksOf(t));
    const first = cache.answer('/a', () => 1);
    pass(60);
    assert.equal(await first, '1');
    for (let i = 0; i < 100; i++) await cache.answer(`/other/${i}`, () => i);
    for (let waitedMs = 0; waitedMs < 3_000; waitedMs += 50) pass(50);
    assert.equal(cache.stats.bypasses, 101);
    assert.equal(store.waiting.length, 2, 'the lookup and one probe');
    assert.deepEqual(log.lines, [
      'warn The store of the JSON cache is down, responses are made without it: The store did not respond within 50 ms.',
    ]);
    cache.close();
  });

  it('is used again once a probe is answered in time, and that is told once', async (t) => {
    const clock = clocksOf(t);
    const log = makeLog();
    const store = makeManualStore();
    const cache = new JsonCache({ store, logger: log, timeoutMs: 50 });
    await cache.answer('/a', () => 1);
    await until('a probe', () => store.waiting.length === 2);
    clock.advance(100);
    store.waiting[1]!.answer();
    await until('a second probe, after the late answer', () => store.waiting.length === 3);
    assert.equal(cache.isStoreDown, true);
    // On a busy machine one of them may be late as well.
    await until('recovery', () => {
      store.waiting.at(-1)!.answer();
      return !cache.isStoreDown;
    });
    const probes = store.waiting.length;
    const answer = cache.answer('/a', () => assert.fail('produced'));
    store.waiting[probes]!.answer('{"from":"store"}');
    assert.equal(await answer, '{"from":"store"}');
    assert.equal(log.lines.length, 2);
    assert.match(
      log.lines[1]!,
      /^log The store of the JSON cache is available again after \d+ ms\.$/,
    );
  });

  it('has an answer that comes too late thrown away', async () => {
    const store = makeManualStore();
    const cache = new JsonCache({ store, logger: false, timeoutMs: 30 });
    assert.equal(await cache.answer('/a', () => 'new'.length), '3');
    store.waiting[0]!.answer('"old"');
    await nextTurn();
    assert.equal(cache.stats.hits, 0);
    cache.close();
  });

  it('does not hold up whoever deletes a key', async () => {
    const cache = new JsonCache({ store: makeManualStore(), logger: false, timeoutMs: 30 });
    await assert.rejects(cache.delete('/a'), { code: 'ERR_REDLINE_CACHE_STORE_DOWN' });
    cache.close();
  });

  it('does not count as down because this process was busy', async () => {
    const store: JsonStore = {
      get: () => new Promise((resolve) => setImmediate(() => setImmediate(resolve, '"stored"'))),
      set() {},
      delete() {},
    };
    const cache = new JsonCache({ store, logger: false, timeoutMs: 400 });
    const answer = cache.answer('/a', () => 'produced');
    const end = performance.now() + 900;
    while (performance.now() < end);
    assert.equal(await answer, '"stored"');
    assert.equal(cache.isStoreDown, false);
  });
});

const server = await startRedis();
const skip = server === undefined && 'there is no redis-server on PATH';
after(() => server?.stop());

describe('Redis', { skip }, () => {
  /** Resolves when everybody who asks has been answered what they had asked for, and once more. */
  type EachAnswered = () => Promise<void>;

  async function withLoad(
    timeoutMs: number,
    harm: (redis: RedisServer, cache: JsonCache, eachAnswered: EachAnswered) => Promise<void>,
  ): Promise<{ lines: string[]; cache: JsonCache }> {
    const redis = server as RedisServer;
    const log = makeLog();
    const client = new Redis(redis.url);
    client.on('error', () => {});
    await client.ping();
    const cache = new JsonCache({ store: redisStore(client), timeoutMs, logger: log });
    const run = { isOver: false };
    const answers = Array.from({ length: 20 }, () => 0);
    const eachAnswered = async (): Promise<void> => {
      const before = [...answers];
      await until('answers for all', () => answers.every((count, n) => count >= before[n]! + 2));
    };
    const worker = async (number: number): Promise<void> => {
      for (let i = 0; !run.isOver; i++) {
        const answer = await cache.answer(`/load/${number}/${i % 5}`, () => ({ number }));
        assert.equal(answer, `{"number":${number}}`);
        answers[number]! += 1;
        // A worker is not to take the whole loop.
        await sleep(2);
      }
    };
    const workers = answers.map((_, number) => worker(number));
    await harm(redis, cache, eachAnswered);
    run.isOver = true;
    await Promise.all(workers);
    await client.quit();
    cache.close();
    return { lines: log.lines, cache };
  }

  it('is killed and started again under load: no answer fails, one line down, one line up', async () => {
    const { lines, cache } = await withLoad(2_000, async (redis, busy, eachAnswered) => {
      await eachAnswered();
      await redis.kill();
      await until('the outage', () => busy.isStoreDown);
      await eachAnswered();
      await redis.restart();
      await until('the end of it', () => !busy.isStoreDown);
      const { hits } = busy.stats;
      await until('hits', () => busy.stats.hits > hits);
    });
    assert.deepEqual(
      lines.map((line) => line.split(' ')[0]),
      ['warn', 'log'],
    );
    assert.ok(cache.stats.bypasses > 0);
  });

  it('is stopped with its connection open, and goes on: no answer fails or waits for it', async () => {
    const { lines, cache } = await withLoad(2_000, async (redis, busy, eachAnswered) => {
      await eachAnswered();
      process.kill(redis.pid as number, 'SIGSTOP');
      try {
        await until('the outage', () => busy.isStoreDown);
        // While it hangs: nobody waits for its return.
        await eachAnswered();
      } finally {
        process.kill(redis.pid as number, 'SIGCONT');
      }
      await until('the end of it', () => !busy.isStoreDown);
      const { hits } = busy.stats;
      await until('hits', () => busy.stats.hits > hits);
    });
    assert.deepEqual(
      lines.map((line) => line.split(' ')[0]),
      ['warn', 'log'],
    );
    assert.ok(cache.stats.bypasses > 0);
  });
});

describe('During an outage', () => {
  for (const how of ['rejects', 'hangs'] as const)
    it(`each producer runs in the context of its own caller: the store ${how}`, async () => {
      const store = makeManualStore();
      const cache = new JsonCache({ store, logger: false, timeoutMs: 30 });
      const caller = new AsyncLocalStorage<string>();
      const ask = (name: string): unknown =>
        caller.run(name, () => cache.wrap(`/${name}`, () => caller.getStore() ?? 'nobody'));
      const asked = Promise.all(['a', 'b', 'c'].map(ask));
      if (how === 'rejects') store.waiting[0]!.fail(new Error('gone'));
      assert.deepEqual(await asked, ['a', 'b', 'c']);
      cache.close();
    });

  it('nobody waits for a lease that cannot be given back', async () => {
    const never = (): Promise<never> => new Promise(() => {});
    let isHanging = false;
    const store: JsonStore = {
      get: () => (isHanging ? never() : Promise.resolve(undefined)),
      set: () => (isHanging ? never() : Promise.resolve()),
      delete: () => Promise.resolve(),
      lease: async () => ({ keep: never, release: never }),
    };
    const cache = new JsonCache({ store, logger: false, timeoutMs: 30 });
    const { promise, resolve } = Promise.withResolvers<number>();
    const begun = Promise.withResolvers<void>();
    const first = cache.answer('/a', () => {
      begun.resolve();
      return promise;
    });
    await begun.promise;
    isHanging = true;
    assert.equal(await cache.answer('/b', () => 2), '2');
    assert.equal(cache.isStoreDown, true);
    resolve(1);
    assert.equal(await first, '1');
    cache.close();
  });
});
