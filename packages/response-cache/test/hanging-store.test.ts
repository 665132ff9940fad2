import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { JsonCache } from '../src/cache/json-cache.ts';
import type { JsonStore } from '../src/store/json-store.ts';
import type { Lease } from '../src/store/lease.ts';
import { memoryStore } from '../src/store/memory-store.ts';
import type { TagVersions } from '../src/store/tag-versions.ts';
import { until } from '@redline/services/until';

// The timers of the cache do not keep the process up.
const alive = setInterval(() => {}, 1_000);
after(() => clearInterval(alive));

/* Every call of the package to a store that may take time: the compiler keeps the lists complete. */
type Waits = {
  [
    name in keyof JsonStore as NonNullable<JsonStore[name]> extends (...args: never[]) => infer Made
      ? Extract<Made, Promise<unknown>> extends never
        ? never
        : name
      : never
  ]-?: true;
};
const ofStore: Readonly<Waits> = {
  get: true,
  set: true,
  delete: true,
  clear: true,
  purge: true,
  lease: true,
  replace: true,
  claim: true,
};
const ofTags: Readonly<Record<Exclude<keyof TagVersions, 'epoch'>, true>> = {
  ticket: true,
  read: true,
  open: true,
  invalidate: true,
};
const ofLease: Readonly<Record<keyof Lease, true>> = { keep: true, release: true };

const hung = [
  ...Object.keys(ofStore),
  ...Object.keys(ofTags).map((name) => `tags.${name}`),
  ...Object.keys(ofLease).map((name) => `lease.${name}`),
];

/** A store in another process, of which one call never returns. */
function storeThatHangsAt(what: string): JsonStore & { released: number } {
  const memory = memoryStore();
  const hangs = <T>(name: string, act: () => T): Promise<Awaited<T>> =>
    name === what ? new Promise(() => {}) : Promise.resolve(act());
  const store = {
    released: 0,
    get: (key: string) => hangs('get', () => memory.get(key)),
    set: (key: string, raw: string, ttl: number) => hangs('set', () => memory.set(key, raw, ttl)),
    delete: (key: string) => hangs('delete', () => memory.delete(key)),
    clear: (prefix: string) => hangs('clear', () => memory.clear(prefix)),
    purge: (prefix: string, isMeant: (key: string) => boolean) =>
      hangs('purge', () => memory.purge(prefix, isMeant)),
    lease: (key: string): Promise<Lease | 'made'> =>
      hangs('lease', () => ({
        keep: (raw: string, ttl: number) =>
          hangs('lease.keep', () => {
            memory.set(key, raw, ttl);
            return true;
          }),
        release: () => {
          store.released += 1;
          return hangs('lease.release', () => undefined);
        },
      })),
    replace: (key: string, _old: string, raw: string, ttl: number) =>
      hangs('replace', () => {
        memory.set(key, raw, ttl);
        return true;
      }),
    claim: () => hangs('claim', () => true),
    tags: {
      ticket: () => hangs('tags.ticket', () => memory.tags.ticket()),
      read: (tags: readonly string[]) => hangs('tags.read', () => memory.tags.read(tags)),
      open: (tags: readonly string[]) => hangs('tags.open', () => memory.tags.open(tags)),
      invalidate: (tags: readonly string[]) =>
        hangs('tags.invalidate', () => memory.tags.invalidate(tags)),
    },
  };
  return store as unknown as JsonStore & { released: number };
}

/* What an app may call; each settles, however. */
const calls: Readonly<Record<string, (cache: JsonCache, key: string) => unknown>> = {
  answer: (cache, key) => cache.answer(key, async () => 1),
  'answer, tagged': (cache, key) => cache.answer(key, async () => 1, { tags: ['t'] }),
  'answer, renewed': (cache, key) =>
    cache.answer(key, async () => 1, { tags: ['t'], ttl: 1, stale: 60_000, early: 'now' }),
  'answer, renewed behind': async (cache, key) => {
    const behind = { ttl: 1, stale: 60_000, renew: 'behind', patience: 60_000 } as const;
    await cache.answer(key, async () => 1, behind);
    // Longer than its ttl.
    await sleep(2);
    return cache.answer(key, async () => 2, behind);
  },
  peek: (cache, key) => cache.peek(key),
  get: (cache, key) => cache.get(key),
  getMany: (cache, key) => cache.getMany([key, 'other']),
  set: (cache, key) => cache.set(key, 1, { tags: ['t'] }),
  wrap: (cache, key) => cache.wrap(key, async () => 1, { tags: ['t'] }),
  delete: (cache, key) => cache.delete(key),
  invalidate: (cache) => cache.invalidate('t'),
  clear: (cache) => cache.clear(),
  purge: (cache) => cache.purge({ prefix: '/' }),
};

describe('A store that never returns from', () => {
  for (const what of hung) {
    it(`${what} lets every call settle, before and during the outage`, async () => {
      const store = storeThatHangsAt(what);
      // Deadlines of what may take longer are multiples of it.
      const timeoutMs = what === 'clear' || what === 'purge' ? 2 : what === 'lease' ? 5 : 30;
      const cache = new JsonCache({ store, timeoutMs, logger: false });
      for (let round = 0; round < 2; round++)
        for (const [name, call] of Object.entries(calls)) {
          const key = `${name}:${round}`;
          const both = [call(cache, key), call(cache, key), call(cache, 'one for all')];
          // A call that hangs fails the test by its time limit, and this says which one it was.
          const limit = setTimeout(() => process.stderr.write(`${what}: ${name} hangs\n`), 10_000);
          const ends = await Promise.allSettled(both);
          clearTimeout(limit);
          if (name.startsWith('answer') || name === 'wrap')
            for (const { status } of ends) assert.equal(status, 'fulfilled', name);
        }
      cache.close();
    });
  }

  it('open gives the lease back, so that no other process waits for it', async () => {
    const store = storeThatHangsAt('tags.open');
    const cache = new JsonCache({ store, timeoutMs: 30, logger: false });
    await cache.answer('/a', async () => 1, { tags: ['t'] });
    assert.equal(store.released, 1);
    cache.close();
  });
});

describe('A store that refuses writes', () => {
  for (const [what, options] of [
    ['of a plain response', {}],
    ['of a tagged response', { tags: ['t'] }],
  ] as const) {
    it(`${what} is down until it takes them, which is said once`, async () => {
      let isReadOnly = true;
      const memory = memoryStore();
      const refuse = async <T>(act: () => T): Promise<Awaited<T>> => {
        if (isReadOnly) throw new Error("READONLY You can't write against a read only replica.");
        return await act();
      };
      const store: JsonStore = {
        get: async (key) => memory.get(key),
        set: (key, raw, ttl) => refuse(() => memory.set(key, raw, ttl)),
        delete: (key) => refuse(() => memory.delete(key)),
        tags: {
          ticket: () => refuse(() => memory.tags.ticket()),
          read: async (tags) => memory.tags.read(tags),
          open: (tags) => refuse(() => memory.tags.open(tags)),
          invalidate: (tags) => refuse(() => memory.tags.invalidate(tags)),
        },
      };
      const lines: string[] = [];
      const push = (line: string): void => void lines.push(line);
      const cache = new JsonCache({ store, logger: { warn: push, log: push } });
      for (let i = 0; i < 20 || !cache.isStoreDown; i++) {
        assert.ok(i < 1_000, 'it is never down');
        const made = await cache.answer(`/${i}`, async () => i, options);
        assert.equal(typeof made === 'string' ? made : (made as { json: string }).json, `${i}`);
        await new Promise((resolve) => setImmediate(resolve));
      }
      assert.ok(cache.stats.storeErrors > 0);
      // The outage alone: a line for the value that was refused first would tell it twice.
      assert.equal(lines.length, 1, lines.join('\n'));
      assert.match(lines[0]!, /is down/);
      assert.ok(
        lines.every((line) => line.includes('READONLY')),
        lines.join('\n'),
      );
      isReadOnly = false;
      await until('the store', () => !cache.isStoreDown);
      await cache.answer('/again', async () => 1, options);
      assert.equal(await cache.get('/again'), 1);
      cache.close();
    });
  }

  it('of one value only is up, and says so', async () => {
    const memory = memoryStore();
    const lines: string[] = [];
    const store: JsonStore = {
      get: async (key) => memory.get(key),
      async set(key, raw, ttl) {
        if (raw.length > 100) throw new Error('too large');
        memory.set(key, raw, ttl);
      },
      delete: async (key) => memory.delete(key),
    };
    const warn = (line: string): void => void lines.push(line);
    const cache = new JsonCache({ store, logger: { warn, log: warn } });
    await cache.answer('/large', async () => 'x'.repeat(200).split(''));
    await until('the line', () => lines.length > 0);
    assert.match(lines[0]!, /refused a value: too large/);
    assert.equal(cache.isStoreDown, false);
    cache.close();
  });
});
