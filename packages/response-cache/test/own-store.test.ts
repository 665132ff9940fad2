// The store of the README: three methods are enough.
import { describe } from 'node:test';
import type { JsonStore } from '../src/json-store.ts';
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
