import assert from 'node:assert/strict';
import { after, afterEach, describe, it } from 'node:test';
import { startRedis } from '@redline/services';
import { Redis } from 'ioredis';
import { Answer, shared } from '../src/answer/answer.ts';
import { crc32, crc32InJavaScript, encodeEntry, decodeEntry } from '../src/answer/entry-format.ts';
import { JsonCache } from '../src/cache/json-cache.ts';
import { redisStore } from '../src/redis/redis-store.ts';
import { compressed } from '../src/store/compressed.ts';
import type { JsonStore } from '../src/store/json-store.ts';
import { memoryStore } from '../src/store/memory-store.ts';
import { tieredStore } from '../src/tiered/tiered-store.ts';
import { until } from '@redline/services/until';

const server = await startRedis();
const skip = server === undefined && 'there is no redis-server on PATH';
after(() => server?.stop());

const texts = ['1234567', '{"id":7,"list":[1,2]}', '"text"', '[]', `["${'é日😀'.repeat(2_000)}"]`];
const values = texts.flatMap((json) => {
  const facts = { head: '{"status":404}', madeAt: 1, freshMs: 2, costMs: 3 };
  return [
    encodeEntry(json),
    encodeEntry(new Answer(json, { ...facts, tags: ['t'], versions: [4] }, 'made')),
    encodeEntry(new Answer(json, { ...facts, head: '', tags: [], versions: [] }, 'made')),
  ];
});
/* Every place of a short value, and some of a long one. */
const placesOf = (raw: string): number[] =>
  Array.from({ length: raw.length }, (_, at) => at).filter(
    (at) => at < 40 || at % 997 === 0 || at > raw.length - 80,
  );

describe('The checksum', () => {
  it('equals that of zlib, on versions of Node without crc32 as well', () => {
    for (const text of [...texts, '', 'a', '\u0000', '\ud800 alone'])
      for (const before of [0, 1, 0xdeadbeef])
        assert.equal(crc32InJavaScript(text, before), crc32(text, before), text.slice(0, 20));
    // The check value in the catalogue of CRCs.
    assert.equal(crc32InJavaScript('123456789'), 0xcbf43926);
  });
});

describe('A stored value', () => {
  it('is what was stored', () => {
    for (const [i, raw] of values.entries()) {
      const kept = decodeEntry(raw);
      const json = texts[Math.floor(i / 3)]!;
      assert.equal(kept instanceof Answer ? kept.json : kept, json);
      if (i % 3 === 1) assert.equal((kept as Answer).head, '{"status":404}');
    }
  });

  it('still is JSON to others where it is a text alone', () => {
    for (const text of texts) assert.deepEqual(JSON.parse(encodeEntry(text)), JSON.parse(text));
  });

  it('cut short at its end is none', () => {
    for (const raw of values)
      for (const at of placesOf(raw))
        assert.equal(decodeEntry(raw.slice(0, at)), undefined, JSON.stringify(raw).slice(0, 60));
  });

  it('that lost characters within is none', () => {
    for (const raw of values)
      for (const at of placesOf(raw).filter((each) => each > 3 && each < raw.length - 5))
        for (const count of [1, 2, 500]) {
          if (at + count > raw.length - 4) continue;
          const kept = decodeEntry(raw.slice(0, at) + raw.slice(at + count));
          assert.ok(kept === undefined || isFormal(raw, kept), JSON.stringify(raw).slice(0, 60));
        }
  });

  it('with a flipped bit is none, or reads the same', () => {
    for (const [i, raw] of values.entries()) {
      const bytes = Buffer.from(raw);
      const json = texts[Math.floor(i / 3)]!;
      const whole = decodeEntry(raw);
      for (let at = 0; at < bytes.length; at += at < 60 || at > bytes.length - 120 ? 1 : 1_009)
        for (let bit = 0; bit < 8; bit++) {
          bytes[at]! ^= 1 << bit;
          const kept = decodeEntry(bytes.toString());
          bytes[at]! ^= 1 << bit;
          if (kept === undefined) continue;
          // A bit of the nonce, or one that a digit does not use.
          if (kept instanceof Answer)
            assert.deepEqual({ ...kept, seal: '' }, { ...(whole as Answer), seal: '' });
          else assert.equal(kept, json);
        }
    }
  });

  it('of a format without a checksum is none', () => {
    const facts = '[1,2,3,[],[]]';
    for (const raw of ['\t\r\t[]\t\t\t\t\t\r\t\r\t', `\t\r\t[]\n${facts}\n\nx1.e.2\r\t\r`])
      assert.equal(decodeEntry(raw), undefined, JSON.stringify(raw));
  });

  it('written twice, or with facts that are not ours, is none', () => {
    for (const raw of values) assert.equal(decodeEntry(raw + raw), undefined);
    const withFacts = (facts: string): string => {
      const sum = crc32(`{}\n${facts}\n`).toString(36);
      return `\t\r\t{}\n${facts}\n\nx1.${(facts.length + 1).toString(36)}.2.${sum}\r\t\r`;
    };
    assert.ok(decodeEntry(withFacts('[1,2,3,["t"],[4]]')) instanceof Answer);
    for (const facts of [
      '[]',
      '{}',
      'null',
      '[1,2,3,["t"],[]]',
      '[1,2,3,["t"],["x"]]',
      '[1,"2",3,[],[]]',
    ])
      assert.equal(decodeEntry(withFacts(facts)), undefined);
  });
});

/* Characters lost from the nonce alone, or from the head, say nothing else of the body. */
function isFormal(raw: string, kept: string | Answer): boolean {
  const whole = decodeEntry(raw);
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

    for (const [what, head] of [
      ['a text', ''],
      ['a response with a head', '{"status":404}'],
    ] as const)
      it(`${what} with a flipped bit is made again, or reads the same`, async () => {
        const { client, cache } = await start();
        const made = shared({ n: 12 }, { head });
        await cache.answer('/a', () => made);
        await until('the value is stored', async () => (await client.exists('whole:/a')) === 1);
        const raw = (await client.getBuffer('whole:/a'))!;
        let damaged = 0;
        for (let at = 0; at < raw.length; at += 1) {
          const flipped = Buffer.from(raw);
          flipped[at]! ^= 1 << (at % 8);
          // All under one key: the value that was read before must not stand in for a damaged one.
          await client.set('whole:/a', flipped, 'PX', 60_000);
          const answer = await cache.answer('/a', () => ((damaged += 1), made));
          assert.equal(jsonOf(answer), '{"n":12}', `bit ${at % 8} of byte ${at}`);
          if (answer instanceof Answer) assert.equal(answer.head, head);
        }
        assert.ok(damaged > 10, `${damaged} of ${raw.length} counted as damaged`);
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

    /* Within a few runs a response is kept, and an invalidation reaches it. */
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

  it('costs no run where a stored value has more tags', async () => {
    const store = memoryStore();
    const cache = new JsonCache({ store, logger: false });
    await cache.answer('/a', () => 1, { tags: ['a', 'b'] });
    await cache.answer('/a', () => assert.fail('produced'), { tags: ['b'] });
  });
});
