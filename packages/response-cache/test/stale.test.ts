import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Answer } from '../src/answer/answer.ts';
import type { AnswerOptions } from '../src/answer/answer-options.ts';
import { JsonCache } from '../src/cache/json-cache.ts';

const policy: AnswerOptions = { ttl: 1_000, stale: 60_000 };

class Clock {
  readonly cache: JsonCache = new JsonCache({ logger: false });
  #aheadMs = 0;

  constructor(t: { mock: { method: Function } }) {
    const realNow = Date.now.bind(Date);
    t.mock.method(Date, 'now', () => realNow() + this.#aheadMs);
  }

  advance(byMs: number): void {
    this.#aheadMs += byMs;
  }

  async ask(produce: () => unknown, options: AnswerOptions = policy): Promise<string> {
    const outcome = await this.cache.answer('/a', produce, options);
    assert.ok(outcome instanceof Answer);
    return `${outcome.source} ${outcome.json}`;
  }
}

const unexpected = (): never => assert.fail('produced');

describe('An answer whose time is up', () => {
  it('is given to everyone but the one who makes the new one', async (t) => {
    const clock = new Clock(t);
    assert.equal(await clock.ask(() => 1), 'made 1');
    assert.equal(await clock.ask(unexpected), 'fresh 1');
    clock.advance(1_500);
    const { promise, resolve } = Promise.withResolvers<number>();
    const renewing = clock.ask(() => promise);
    assert.equal(await clock.ask(unexpected), 'stale 1');
    assert.equal(await clock.ask(unexpected), 'stale 1');
    resolve(2);
    assert.equal(await renewing, 'made 2');
    assert.equal(await clock.ask(unexpected), 'fresh 2');
    const { hits, stale, misses, shared } = clock.cache.stats;
    assert.deepEqual({ hits, stale, misses, shared }, { hits: 2, stale: 2, misses: 2, shared: 0 });
  });

  it('stands in for the new one where making that fails', async (t) => {
    const clock = new Clock(t);
    await clock.ask(() => 1);
    clock.advance(1_500);
    for (let i = 0; i < 3; i++)
      assert.equal(await clock.ask(() => Promise.reject(new Error('down'))), 'stale 1');
    assert.equal(await clock.ask(() => 2), 'made 2');
  });

  it('stands in for no failure that staleOnError does not let it', async (t) => {
    const clock = new Clock(t);
    await clock.ask(() => 1);
    clock.advance(1_500);
    const gone = new Error('gone');
    const options = { ...policy, staleOnError: (error: unknown) => error !== gone };
    await assert.rejects(
      clock.ask(() => Promise.reject(gone), options),
      gone,
    );
  });

  it('is gone once that time is up, too, or the key deleted', async (t) => {
    const clock = new Clock(t);
    await clock.ask(() => 1);
    clock.advance(61_500);
    assert.equal(await clock.ask(() => 2), 'made 2');
    clock.advance(1_500);
    const failing = Promise.withResolvers<never>();
    const renewing = clock.ask(() => failing.promise);
    await clock.cache.delete('/a');
    failing.reject(new Error('down'));
    await assert.rejects(renewing, /down/);
    assert.equal(await clock.ask(() => 3), 'made 3');
  });

  it('is not given out by get()', async (t) => {
    const clock = new Clock(t);
    await clock.ask(() => 1);
    assert.equal(await clock.cache.get('/a'), 1);
    clock.advance(1_500);
    assert.equal(await clock.cache.get('/a'), undefined);
  });
});

describe('An answer that is renewed early', () => {
  it('is made by one caller before its time is up, the more probably the longer that takes', async (t) => {
    const clock = new Clock(t);
    const early: AnswerOptions = { ttl: 1_000, early: true };
    const realNow = performance.now.bind(performance);
    let took = 0;
    t.mock.method(performance, 'now', () => realNow() + took);
    await clock.ask(() => (took = 300), early);
    clock.advance(500);
    // 300 ms against 500 ms left: due where -ln(1 - x) is 5/3 or more.
    const random = t.mock.method(Math, 'random', () => 0.8);
    assert.equal(await clock.ask(unexpected, early), 'fresh 300');
    random.mock.mockImplementation(() => 0.82);
    const { promise, resolve } = Promise.withResolvers<number>();
    const renewing = clock.ask(() => promise, early);
    assert.equal(await clock.ask(unexpected, early), 'fresh 300');
    resolve(2);
    assert.equal(await renewing, 'made 2');
  });
});
