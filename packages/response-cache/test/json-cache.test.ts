import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { shared } from '../src/answer/answer.ts';
import { JsonCache } from '../src/cache/json-cache.ts';
import { memoryStore } from '../src/store/memory-store.ts';
import { Unshared, unshared } from '../src/answer/answer-options.ts';
import { clocksOf } from './clock.ts';

function quietCache(options: { ttl?: number } = {}): JsonCache {
  return new JsonCache({ ...options, logger: false });
}

function askTogether<T>(
  count: number,
  ask: (index: number) => T,
): Promise<Array<PromiseSettledResult<Awaited<T>>>> {
  return Promise.allSettled(Array.from({ length: count }, async (_, index) => await ask(index)));
}

describe('A hit', () => {
  it('comes at once, without a promise, where the store answers at once', async () => {
    const cache = quietCache();
    await cache.answer('/a', () => ({ a: 1 }));
    assert.equal(
      cache.answer('/a', () => assert.fail('produced')),
      '{"a":1}',
    );
  });

  it('is neither parsed nor serialised', async (t) => {
    const cache = quietCache();
    await cache.answer('/a', () => ({ a: 1 }));
    const parse = t.mock.method(JSON, 'parse');
    const stringify = t.mock.method(JSON, 'stringify');
    cache.answer('/a', () => assert.fail('produced'));
    assert.equal(parse.mock.callCount() + stringify.mock.callCount(), 0);
  });
});

describe('A miss', () => {
  it('serialises once, for the store and everyone who waits', async () => {
    const cache = quietCache();
    let calls = 0;
    const value = { toJSON: () => ({ calls: ++calls }) };
    const answers = await askTogether(50, () => cache.answer('/a', () => nextTurn(value)));
    assert.equal(calls, 1);
    assert.ok(
      answers.every((answer) => answer.status === 'fulfilled' && answer.value === '{"calls":1}'),
    );
    assert.equal(
      cache.answer('/a', () => assert.fail('produced')),
      '{"calls":1}',
    );
  });

  it('does not wait for another key', async () => {
    const cache = quietCache();
    const { promise, resolve } = Promise.withResolvers<number>();
    const slow = cache.answer('/slow', () => promise);
    assert.equal(await cache.answer('/fast', () => 2), '2');
    resolve(1);
    assert.equal(await slow, '1');
  });

  it('is produced again once its time is up', async (t) => {
    const clock = clocksOf(t);
    const cache = quietCache({ ttl: 30 });
    assert.equal(await cache.answer('/a', () => 1), '1');
    assert.equal(await cache.answer('/b', () => 1, { ttl: 60_000 }), '1');
    clock.advance(80);
    assert.equal(await cache.answer('/a', () => 2), '2');
    assert.equal(await cache.answer('/b', () => 2), '1');
  });

  for (const ttl of [0, -1, 0.5, Number.POSITIVE_INFINITY]) {
    it(`refuses a ttl of ${ttl}, before it produces`, async () => {
      const cache = quietCache();
      const answered = cache.answer('/a', () => assert.fail('produced'), {
        ttl,
      }) as Promise<string>;
      await assert.rejects(answered, { code: 'ERR_REDLINE_CACHE_OPTION' });
      assert.throws(() => quietCache({ ttl }), { code: 'ERR_REDLINE_CACHE_OPTION' });
    });
  }
});

describe('An option that is not there', () => {
  it('is refused, with the names of those that are', () => {
    assert.throws(() => quietCache({ ttlMs: 5 } as never), {
      code: 'ERR_REDLINE_CACHE_OPTION',
      message:
        'Unknown option "ttlMs" of JsonCache. Known options: name, store, ttl, keyPrefix, timeoutMs, logger.',
    });
    assert.throws(() => memoryStore({ max: 5 } as never), {
      code: 'ERR_REDLINE_CACHE_OPTION',
      message: /Unknown option "max" of memoryStore/,
    });
  });
});

describe('A producer that never settles', () => {
  it('does not hold those who ask half a minute later', async (t) => {
    const cache = quietCache();
    const lost = Promise.withResolvers<number>();
    const first = cache.answer('/a', () => lost.promise);
    const realNow = performance.now.bind(performance);
    t.mock.method(performance, 'now', () => realNow() + 31_000);
    assert.equal(await cache.answer('/a', () => 2), '2');
    lost.resolve(1);
    assert.equal(await first, '1');
    assert.equal(await cache.answer('/a', () => assert.fail('produced')), '2');
  });
});

describe('A producer that throws', () => {
  it('reaches its own caller; those who waited share one more run', async () => {
    const cache = quietCache();
    let runs = 0;
    const answers = await askTogether(20, () =>
      cache.answer('/a', async () => {
        const run = (runs += 1);
        await nextTurn();
        if (run === 1) throw new Error('the first caller is not served');
        return run;
      }),
    );
    assert.equal(runs, 2);
    assert.equal(answers[0]!.status, 'rejected');
    for (const answer of answers.slice(1))
      assert.deepEqual(answer, { status: 'fulfilled', value: '2' });
    assert.equal(cache.stats.misses, 2);
    assert.equal(cache.stats.shared, 18);
    assert.equal(await cache.answer('/a', () => assert.fail('not stored')), '2');
  });

  it('reaches everyone once the second run has thrown, too, and nothing is stored', async () => {
    const cache = quietCache();
    let runs = 0;
    const answers = await askTogether(20, () =>
      cache.answer('/a', async () => {
        runs += 1;
        await nextTurn();
        throw new Error(`database is away ${runs}`);
      }),
    );
    assert.equal(runs, 2);
    assert.deepEqual(
      answers.map((answer) => answer.status === 'rejected' && answer.reason.message),
      ['database is away 1', ...Array.from({ length: 19 }, () => 'database is away 2')],
    );
    assert.equal(await cache.answer('/a', () => 1), '1');
  });

  it('decides for nobody where its own caller has left, however often that happens', async () => {
    const cache = quietCache();
    let runs = 0;
    const answers = await askTogether(20, (index) =>
      cache.answer(
        '/a',
        async () => {
          runs += 1;
          await nextTurn();
          if (index < 5) throw new Error('aborted');
          return index;
        },
        { isAbandoned: () => index < 5 },
      ),
    );
    assert.equal(runs, 6);
    for (const answer of answers.slice(5))
      assert.deepEqual(answer, { status: 'fulfilled', value: '5' });
  });

  it('may throw before its first await', async () => {
    const cache = quietCache();
    const failure = new Error('at once');
    await assert.rejects(
      async () =>
        cache.answer('/a', () => {
          throw failure;
        }),
      failure,
    );
    assert.equal(await cache.answer('/a', () => 1), '1');
  });
});

describe('A producer that says how long its answer is good for', () => {
  it('is believed', async (t) => {
    const clock = clocksOf(t);
    const cache = quietCache();
    assert.equal(await cache.answer('/a', () => shared(1, { ttl: 30 })), '1');
    assert.equal(await cache.answer('/b', () => shared(1, { ttl: 60_000 }), { ttl: 30 }), '1');
    clock.advance(80);
    assert.equal(await cache.answer('/a', () => 2), '2');
    assert.equal(await cache.answer('/b', () => 2), '1');
  });

  it('has it shared and not stored at 0', async () => {
    const cache = quietCache();
    const answers = await askTogether(5, () =>
      cache.answer('/a', () => nextTurn(shared(1, { ttl: 0 }))),
    );
    assert.ok(answers.every((answer) => answer.status === 'fulfilled' && answer.value === '1'));
    assert.equal(cache.stats.shared, 4);
    assert.equal(cache.stats.stores, 0);
    assert.equal(await cache.answer('/a', () => 2), '2');
  });
});

describe('An unshared answer', () => {
  it('goes to its own caller alone, as it was returned, and everyone who waited produces for themselves', async () => {
    const cache = quietCache();
    const answers = await askTogether(10, (index) =>
      cache.answer('/me', async () => {
        await nextTurn();
        return unshared({ caller: index });
      }),
    );
    const values = answers.map((answer) => {
      assert.ok(answer.status === 'fulfilled' && answer.value instanceof Unshared);
      return answer.value.value;
    });
    assert.deepEqual(
      values,
      Array.from({ length: 10 }, (_, caller) => ({ caller })),
    );
    assert.equal(cache.stats.unshared, 10);
    assert.equal(cache.stats.shared, 0);
    assert.equal(cache.stats.stores, 0);
  });

  it('is not asked to be JSON', async () => {
    const bytes = Buffer.from('x');
    const answer = await quietCache().answer('/file', () => unshared(bytes));
    assert.ok(answer instanceof Unshared);
    assert.equal(answer.value, bytes);
  });
});

describe('A deleted key', () => {
  it('is not filled by a run that began before', async () => {
    const cache = quietCache();
    const [old, fresh] = [Promise.withResolvers<number>(), Promise.withResolvers<number>()];
    const before = cache.answer('/a', () => old.promise);
    await cache.delete('/a');
    const after = cache.answer('/a', () => fresh.promise);
    old.resolve(3);
    assert.equal(await before, '3');
    fresh.resolve(4);
    assert.equal(await after, '4');
    assert.equal(
      cache.answer('/a', () => assert.fail('not stored')),
      '4',
    );
  });

  it('shares no run that began before with those who ask after', async () => {
    const cache = quietCache();
    const [old, fresh] = [Promise.withResolvers<number>(), Promise.withResolvers<number>()];
    const before = cache.answer('/a', () => old.promise);
    await cache.delete('/a');
    const callers = [1, 2, 3].map(() => cache.answer('/a', () => fresh.promise));
    old.resolve(1);
    assert.equal(await before, '1');
    // The old run is over, the new one is still pending and takes more callers.
    callers.push(cache.answer('/a', () => assert.fail('a second run')));
    fresh.resolve(2);
    assert.deepEqual(await Promise.all(callers), ['2', '2', '2', '2']);
  });
});

describe('A store that refuses to write', () => {
  for (const [how, set] of [
    [
      'throws',
      () => {
        throw new Error('full');
      },
    ],
    ['rejects', () => Promise.reject(new Error('OOM command not allowed'))],
  ] as const) {
    it(`costs no answer when it ${how}, and is counted`, async () => {
      const store = Object.assign(Object.create(memoryStore()), {
        get: () => undefined,
        set,
        delete() {},
      });
      const cache = new JsonCache({ store, logger: false });
      assert.equal(await cache.answer('/a', () => 1), '1');
      await nextTurn();
      assert.equal(cache.stats.storeErrors, 1);
      assert.equal(cache.stats.stores, 0);
      // Nothing would be kept: see hanging-store.test.ts.
      assert.equal(cache.isStoreDown, true);
      cache.close();
    });
  }
});
