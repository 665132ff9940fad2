import assert from 'node:assert/strict';
import { after, afterEach, describe, it } from 'node:test';
import { startRedis } from '@redline/services';
import { Redis } from 'ioredis';
import { Answer, shared } from '../src/answer/answer.ts';
import { seal, unseal } from '../src/answer/seal.ts';
import { JsonCache } from '../src/cache/json-cache.ts';
import { redisStore } from '../src/redis/redis-store.ts';
import { compressed } from '../src/store/compressed.ts';
import type { JsonStore } from '../src/store/json-store.ts';
import { memoryStore } from '../src/store/memory-store.ts';
import { tieredStore } from '../src/tiered/tiered-store.ts';
import { until } from './until.ts';

const server = await startRedis();
const skip = server === undefined && 'there is no redis-server on PATH';
after(() => server?.stop());

const texts = ['1234567', '{"id":7,"list":[1,2]}', '"text"', '[]', `["${'é日😀'.repeat(2_000)}"]`];
const values = texts.flatMap((json) => {
  const facts = { head: '{"status":404}', madeAt: 1, freshMs: 2, costMs: 3 };
  return [
    seal(json),
    seal(new Answer(json, { ...facts, tags: ['t'], versions: [4] }, 'made')),
    seal(new Answer(json, { ...facts, head: '', tags: [], versions: [] }, 'made')),
  ];
});
/* Every place of a short value, and some of a long one. */
const placesOf = (raw: string): number[] =>
  Array.from({ length: raw.length }, (_, at) => at).filter(
    (at) => at < 40 || at % 997 === 0 || at > raw.length - 80,
  );

describe('A stored value', () => {
  it('is what was stored', () => {
    for (const [i, raw] of values.entries()) {
      const kept = unseal(raw);
      const json = texts[Math.floor(i / 3)]!;
      assert.equal(kept instanceof Answer ? kept.json : kept, json);
      if (i % 3 === 1) assert.equal((kept as Answer).head, '{"status":404}');
    }
  });

  it('still is JSON to others where it is a text alone', () => {
    for (const text of texts) assert.deepEqual(JSON.parse(seal(text)), JSON.parse(text));
  });

  it('cut short at its end is none', () => {
    for (const raw of values)
      for (const at of placesOf(raw))
        assert.equal(unseal(raw.slice(0, at)), undefined, JSON.stringify(raw).slice(0, 60));
  });

  it('that lost characters within is none', () => {
    for (const raw of values)
      for (const at of placesOf(raw).filter((each) => each > 3 && each < raw.length - 5))
        for (const count of [1, 2, 500]) {
          if (at + count > raw.length - 4) continue;
          const kept = unseal(raw.slice(0, at) + raw.slice(at + count));
          assert.ok(kept === undefined || isFormal(raw, kept), JSON.stringify(raw).slice(0, 60));
        }
  });

  it('written twice, or with facts that are not ours, is none', () => {
    for (const raw of values) assert.equal(unseal(raw + raw), undefined);
    for (const facts of [
      '[]',
      '{}',
      'null',
      '[1,2,3,["t"],[]]',
      '[1,2,3,["t"],["x"]]',
      '[1,"2",3,[],[]]',
    ])
      assert.equal(
        unseal(`\t\r\t{}\n${facts}\n\nx1.${(facts.length + 1).toString(36)}.2\r\t\r`),
        undefined,
      );
  });
});

/* Characters lost from the nonce alone, or from the head, say nothing else of the body. */
function isFormal(raw: string, kept: string | Answer): boolean {
  const whole = unseal(raw);
  return kept instanceof Answer && whole instanceof Answer && kept.json === whole.json;
}

const stores: Record<string, (client: Redis) => JsonStore> = {
  redisStore: (client) => redisStore(client, { keyPrefix: 'whole:' }),
  'redisStore, compressed': (client) =>
    compressed(redisStore(client, { keyPrefix: 'whole:' }), { minLength: 10 }),
  tieredStore: (client) => tieredStore(client, { keyPrefix: 'whole:' }),
};

for (const [name, make] of Object.entries(stores)) {
  describe(`Damaged keys in Redis, with ${name}`, { skip }, () => {
    const ends: (() => unknown)[] = [];
    afterEach(async () => {
      for (const end of ends.splice(0)) await end();
    });

    async function start(): Promise<{ client: Redis; cache: JsonCache }> {
      const client = new Redis(server!.port);
      await client.flushall();
      const cache = new JsonCache({ store: make(client), logger: false, timeoutMs: 30_000 });
      ends.push(
        () => cache.close(),
        () => client.quit(),
      );
      return { client, cache };
    }

    const jsonOf = (kept: unknown): string => (kept instanceof Answer ? kept.json : String(kept));

    for (const [what, head] of [
      ['a text', ''],
      ['a response with a head', '{"status":404}'],
    ] as const)
      it(`${what}, cut at every length, is made again and kept`, async () => {
        const { client, cache } = await start();
        const made = shared({ n: 12 }, { head });
        await cache.answer('/a', () => made);
        await until('the value is stored', async () => (await client.exists('whole:/a')) === 1);
        const raw = (await client.get('whole:/a'))!;
        assert.ok(raw.length > 10);
        // Base64 without its padding is whole.
        const end = raw.replace(/=+$/, '').length;
        for (let length = 0; length < end; length += 1) {
          const key = `/cut${length}`;
          await client.set(`whole:${key}`, raw.slice(0, length), 'PX', 60_000);
          let runs = 0;
          const answer = (): unknown => cache.answer(key, () => ((runs += 1), made));
          assert.equal(jsonOf(await answer()), '{"n":12}', `${length}`);
          assert.equal(runs, 1, `${length} characters of ${JSON.stringify(raw)} count as whole`);
          assert.equal(jsonOf(await answer()), '{"n":12}');
        }
      });

    for (const garbage of ['abc', '', '-5', '1e300', 'nan', '9007199254740991', '12.5'])
      for (const which of ['clock', 'tag'])
        it(`a ${which} of ${JSON.stringify(garbage)} is replaced`, async () => {
          const { client, cache } = await start();
          const options = { tags: ['t'] };
          await cache.answer('/first', () => 1, options);
          const key = which === 'clock' ? '{whole:tags}clock' : '{whole:tags}:t';
          assert.equal(await client.exists(key), 1);
          await client.set(key, garbage);
          await keepsAndInvalidates(cache);
        });

    for (const which of ['clock', ':t'])
      it(`a list under ${which} is replaced`, async () => {
        const { client, cache } = await start();
        await client.rpush(`{whole:tags}${which}`, 'x');
        await keepsAndInvalidates(cache);
      });

    /* Within a few productions a response is kept, and an invalidation reaches it. */
    async function keepsAndInvalidates(cache: JsonCache): Promise<void> {
      let runs = 0;
      const ask = (): unknown => cache.answer('/a', () => (runs += 1), { tags: ['t'] });
      for (let i = 0; i < 4; i++) await ask();
      const before = runs;
      await ask();
      assert.equal(runs, before, 'it is not kept');
      assert.equal(cache.isStoreDown, false);
      await cache.invalidate('t');
      await ask();
      assert.equal(runs, before + 1, 'the invalidation did not reach it');
    }

    for (const [what, ...time] of [
      ['without a time to live'],
      ['with a longer time to live than any of ours', 'PX', 86_400_000],
    ] as const)
      it(`a lease ${what} is taken over`, async () => {
        const { client, cache } = await start();
        await client.set('whole:/a', `\u0001lease:${crypto.randomUUID()}`, ...(time as []));
        let runs = 0;
        const ask = async (): Promise<string> =>
          jsonOf(await cache.answer('/a', () => (runs += 1), { tags: ['t'] }));
        assert.equal(await ask(), '1');
        assert.equal(await ask(), '1');
        const left = await client.pttl('whole:/a');
        assert.ok(left > 0 && left <= 5_000, `${left}`);
      });
  });
}

describe('A tag that a release adds', () => {
  for (const [what, before] of [
    ['one tag', { tags: ['labels'] }],
    ['no tag', {}],
    ['no tag, and a date', { dated: true }],
  ] as const)
    for (const [how, tags] of [
      ['named by the call', { tags: ['labels', 'datasets'] }],
      ['of a route', { tags: true, leastTags: ['labels', 'datasets'] }],
    ] as const)
      it(`${how} reaches what was stored with ${what}`, async () => {
        const store = memoryStore();
        const options = { ttl: 3_600_000, ...tags };
        const [old, cache] = [0, 1].map(
          () => new JsonCache({ store, logger: false, keyPrefix: 'p:' }),
        );
        await old!.answer('/a', () => 1, { ttl: 3_600_000, ...before });
        assert.equal(await cache!.peek('/a', options), undefined);
        const made = shared(2, { tags: ['labels', 'datasets'] });
        const ask = async (): Promise<string> => {
          const kept = await cache!.answer('/a', () => made, options);
          return (kept as Answer).json;
        };
        assert.equal(await ask(), '2');
        assert.ok((await cache!.peek('/a', options)) instanceof Answer);
        await cache!.invalidate('datasets');
        assert.equal(await cache!.peek('/a', options), undefined);
      });

  it('costs no production where a stored value has more tags', async () => {
    const store = memoryStore();
    const cache = new JsonCache({ store, logger: false });
    await cache.answer('/a', () => 1, { tags: ['a', 'b'] });
    await cache.answer('/a', () => assert.fail('produced'), { tags: ['b'] });
  });
});
