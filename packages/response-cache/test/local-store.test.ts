import { describe } from 'node:test';
import { Answer, due, JsonCache, memoryStore } from '../src/index.ts';
import { localStoreContract } from './local-store-contract.ts';

describe('The local store of JavaScript', () =>
  localStoreContract(({ ttl, maxBytes }) => {
    const cache = new JsonCache({ store: memoryStore({ maxLength: maxBytes }), ttl });
    return {
      async begin(key, tags) {
        const { promise, resolve } = Promise.withResolvers<unknown>();
        const made = cache.answer(key, () => promise, tags === undefined ? {} : { tags });
        return {
          async finish(text) {
            resolve(JSON.parse(text));
            await made;
          },
        };
      },
      async find(key) {
        const found = await cache.peek(key);
        if (found === due) return undefined;
        return found instanceof Answer ? found.json : found;
      },
      delete: (key) => cache.delete(key),
      invalidate: (tag) => cache.invalidate(tag),
      clear: () => cache.clear(),
    };
  }));
