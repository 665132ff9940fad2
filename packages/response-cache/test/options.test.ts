import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { fastify } from 'fastify';
import { cached } from '../src/adapters/express.ts';
import { fastifyCache } from '../src/adapters/fastify.ts';
import {
  compressed,
  JsonCache,
  memoryStore,
  redisStore,
  shared,
  tieredStore,
  type RedisClient,
} from '../src/index.ts';
import { decide } from '../src/route/index.ts';

const command = async (): Promise<null> => null;
const client = {
  status: 'ready',
  get: command,
  set: command,
  del: command,
  options: { host: '127.0.0.1', port: 1 },
} as unknown as RedisClient;
const cache = new JsonCache({ logger: false });

type Make = (options: never) => unknown;

const factories: Readonly<Record<string, readonly [Make, Readonly<Record<string, unknown>>]>> = {
  JsonCache: [
    (options) => new JsonCache(options),
    { name: 5, ttl: '5000', keyPrefix: 5, timeoutMs: '250', logger: console.log },
  ],
  memoryStore: [memoryStore, { maxEntries: '10', maxLength: null }],
  redisStore: [(options) => redisStore(client, options), { keyPrefix: 5 }],
  tieredStore: [
    (options) => tieredStore(client, options),
    { keyPrefix: 5, maxBytes: '64M', maxSilenceMs: true },
  ],
  compressed: [(options) => compressed(memoryStore(), options), { minLength: '1k' }],
  'cached()': [
    (options) => cached(cache, {}, options),
    { hosts: 'a.example', cookies: true, headers: 'etag', onPlace: 'log' },
  ],
  'cached(), a policy': [
    (policy) => cached(cache, policy),
    {
      ttl: '5',
      stale: true,
      early: 1,
      tags: 'a',
      vary: 'a',
      identify: 5,
      key: 5,
      query: 'a',
      at: 5,
    },
  ],
};

for (const [of, [make, wrong]] of Object.entries(factories)) {
  describe(`An option of ${of} of the wrong type`, () => {
    for (const [name, value] of Object.entries(wrong)) {
      it(`is refused with its name and what was given: ${name}: ${inspect(value)}`, () => {
        assert.throws(
          () => make({ [name]: value } as never),
          ({ code, message }: NodeJS.ErrnoException) => {
            assert.equal(code, 'ERR_REDLINE_CACHE_OPTION');
            assert.ok(message.startsWith(`The option ${name} `), message);
            assert.ok(message.endsWith(`; got ${inspect(value)}.`), message);
            return true;
          },
        );
      });
    }

    for (const options of [5, 'ttl', null, []]) {
      it(`is refused in place of all of them, too: ${inspect(options)}`, () => {
        assert.throws(() => make(options as never), {
          code: 'ERR_REDLINE_CACHE_OPTION',
          message: new RegExp(`^The options of .* must be an object; got `),
        });
      });
    }
  });
}

describe('What is given in place of a cache or a store', () => {
  const code = 'ERR_REDLINE_CACHE_OPTION';

  it('is refused by cached() of Express and by fastifyCache', async () => {
    assert.throws(() => cached(new Map() as never), {
      code,
      message: /^The first argument of cached\(\) must be a JsonCache; got /,
    });
    for (const options of [{}, { cache: 5 }]) {
      const app = fastify();
      app.register(fastifyCache, options as never);
      await assert.rejects(async () => app.ready(), {
        code,
        message: /^The option cache of fastifyCache must be a JsonCache; got (?:undefined|5)\.$/,
      });
    }
  });

  it('is refused by compressed()', () => {
    assert.throws(() => compressed(new Set() as never), {
      code,
      message: /^The store given to compressed\(\) must have get, set and delete, .*; got Set\.$/,
    });
    assert.throws(() => compressed(undefined as never), { code });
  });
});

describe('Tags that are not a list of strings', () => {
  const code = 'ERR_REDLINE_CACHE_OPTION';

  it('are refused, and are not its letters', async () => {
    const message = /^The option tags of .* must be a list of strings; got /;
    const wrong = 'article' as never;
    await assert.rejects(cache.set('a', 1, { tags: wrong }), { code, message });
    await assert.rejects(cache.set('a', 1, { tags: [5] as never }), { code, message });
    await assert.rejects(
      cache.wrap('b', () => 1, { tags: wrong }),
      { code, message },
    );
    const made = async (): Promise<unknown> => shared(1, { tags: wrong });
    await assert.rejects(async () => cache.answer('c', made, { tags: [] }), { code, message });
    assert.throws(() => decide({}, { tags: wrong }), { code, message });
  });

  it('nor is a ttl that is not a number, or an option that does not exist', async () => {
    assert.throws(() => decide({}, { ttl: '5' as never }), { code, message: /got '5'\.$/ });
    assert.throws(() => decide({}, { tttl: 5 } as never), { code, message: /"tttl" of decide/ });
    await assert.rejects(cache.set('a', 1, { tttl: 5 } as never), { code });
  });
});
