import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

/** A fill that is under way: what it is made of has been read. */
export interface Fill {
  finish(text: string): Promise<void>;
}

/** A store of responses in this process: texts in JavaScript, or the response store of the HTTP engine. */
export interface LocalStore {
  begin(key: string, tags?: readonly string[]): Promise<Fill>;
  find(key: string): Promise<string | undefined>;
  delete(key: string): Promise<unknown> | void;
  invalidate(tag: string): Promise<unknown> | void;
  clear(): Promise<unknown> | void;
  close?(): Promise<unknown> | void;
}

export interface LocalStoreLimits {
  readonly ttl: number;
  readonly maxBytes: number;
}

/** The same for every local store: it hears every drop, and what was begun before one does not come after it. */
export function localStoreContract(
  make: (limits: LocalStoreLimits) => LocalStore | Promise<LocalStore>,
): void {
  const test = (
    name: string,
    run: (store: LocalStore) => Promise<void>,
    limits: Partial<LocalStoreLimits> = {},
  ): void => {
    it(name, async () => {
      const store = await make({ ttl: 60_000, maxBytes: 1024 * 1024, ...limits });
      try {
        await run(store);
      } finally {
        await store.close?.();
      }
    });
  };
  const fill = async (
    store: LocalStore,
    key: string,
    text: string,
    tags?: readonly string[],
  ): Promise<void> => (await store.begin(key, tags)).finish(text);

  test('has what it was given, and the last of it', async (store) => {
    assert.equal(await store.find('/a'), undefined);
    await fill(store, '/a', '1');
    assert.equal(await store.find('/a'), '1');
    assert.equal(await store.find('/b'), undefined);
    await store.delete('/a');
    await fill(store, '/a', '2');
    assert.equal(await store.find('/a'), '2');
  });

  test(
    'has it until its time is up',
    async (store) => {
      await fill(store, '/a', '1');
      // The clock of the engine's store is its own.
      await sleep(60);
      assert.equal(await store.find('/a'), undefined);
    },
    { ttl: 50 },
  );

  const drops: Record<string, (store: LocalStore) => Promise<unknown> | void> = {
    'its key': (store) => store.delete('/a'),
    'one of its tags': (store) => store.invalidate('t2'),
    everything: (store) => store.clear(),
  };
  for (const [name, drop] of Object.entries(drops)) {
    test(`forgets with ${name}, and nothing else`, async (store) => {
      await fill(store, '/a', '1', ['t1', 't2']);
      await fill(store, '/b', '2', ['t1']);
      await drop(store);
      assert.equal(await store.find('/a'), undefined);
      assert.equal(await store.find('/b'), name === 'everything' ? undefined : '2');
      await fill(store, '/a', '3', ['t1', 't2']);
      assert.equal(await store.find('/a'), '3');
    });

    test(`refuses what was begun before a drop of ${name}`, async (store) => {
      const before = await store.begin('/a', ['t1', 't2']);
      await drop(store);
      await before.finish('1');
      assert.equal(await store.find('/a'), undefined);
      await fill(store, '/a', '2', ['t1', 't2']);
      assert.equal(await store.find('/a'), '2');
    });
  }

  test('takes what was begun before a drop of something else', async (store) => {
    // Of a tag that is new nobody can tell when it was dropped last.
    await fill(store, '/b', '0', ['t1']);
    const before = await store.begin('/a', ['t1']);
    await store.delete('/other');
    await store.invalidate('other');
    await before.finish('1');
    assert.equal(await store.find('/a'), '1');
  });

  test(
    'keeps its bounds: not what is too large, and not all of what there is',
    async (store) => {
      await fill(store, '/large', JSON.stringify(['x'.repeat(80_000)]));
      assert.equal(await store.find('/large'), undefined);
      const text = JSON.stringify(['x'.repeat(2_000)]);
      for (let n = 0; n < 100; n++) await fill(store, `/${n}`, text);
      const found = await Promise.all(Array.from({ length: 100 }, (_, n) => store.find(`/${n}`)));
      const count = found.filter((each) => each === text).length;
      assert.ok(count > 0 && count <= 32, `${count} of 100 are there`);
    },
    { maxBytes: 64 * 1024 },
  );
}
