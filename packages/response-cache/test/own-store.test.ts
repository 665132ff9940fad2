// The store of the README: three methods are enough.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { JsonCache } from '../src/cache/json-cache.ts';
import type { JsonStore } from '../src/store/json-store.ts';
import { storeContract } from '../src/testing/store-contract.ts';

function makeStore(): JsonStore {
  const values = new Map<string, { raw: string; until: number }>();
  return {
    get(key) {
      const value = values.get(key);
      return value !== undefined && Date.now() < value.until ? value.raw : undefined;
    },
    set: (key, raw, ttl) => void values.set(key, { raw, until: Date.now() + ttl }),
    delete: (key) => void values.delete(key),
  };
}

const store = makeStore();
describe('A store of three methods', () => storeContract(() => store));

for (const isAsync of [false, true]) {
  it(
    `answers where the tags of ${isAsync ? 'an asynchronous' : 'a'} store throw`,
    { timeout: 600_000 },
    async () => {
      const values = makeStore();
      const found = (key: string) => (isAsync ? Promise.resolve(values.get(key)) : values.get(key));
      let isBroken = false;
      const read = (tags: readonly string[]): number[] => {
        if (isBroken) throw new Error('broken');
        return tags.map(() => 1);
      };
      const tags = { ticket: () => 1, read, open: read, invalidate: () => {} };
      const cache = new JsonCache({
        store: { ...values, get: found as JsonStore['get'], tags },
        logger: false,
      });
      const ask = async (value: number) => await cache.wrap('a', () => value, { tags: ['t'] });
      assert.deepEqual([await ask(1), await ask(2)], [1, 1]);
      isBroken = true;
      assert.equal(await ask(3), 3);
      cache.close();
    },
  );
}
