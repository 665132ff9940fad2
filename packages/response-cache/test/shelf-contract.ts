import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

/** A fill that is under way: what it is made of has been read. */
export interface Fill {
  finish(text: string): Promise<void>;
}

/** What holds responses in this process: the texts of JavaScript, or the answers of the HTTP engine. */
export interface ShelfUnderTest {
  begin(key: string, tags?: readonly string[]): Promise<Fill>;
  find(key: string): Promise<string | undefined>;
  delete(key: string): Promise<unknown> | void;
  invalidate(tag: string): Promise<unknown> | void;
  clear(): Promise<unknown> | void;
  close?(): Promise<unknown> | void;
}

export interface ShelfLimits {
  readonly ttl: number;
  readonly maxBytes: number;
}

/** The same for every shelf: it hears every drop, and what was begun before one does not come after it. */
export function shelfContract(
  make: (limits: ShelfLimits) => ShelfUnderTest | Promise<ShelfUnderTest>,
): void {
  const test = (
    name: string,
    run: (shelf: ShelfUnderTest) => Promise<void>,
    limits: Partial<ShelfLimits> = {},
  ): void => {
    it(name, async () => {
      const shelf = await make({ ttl: 60_000, maxBytes: 1024 * 1024, ...limits });
      try {
        await run(shelf);
      } finally {
        await shelf.close?.();
      }
    });
  };
  const fill = async (
    shelf: ShelfUnderTest,
    key: string,
    text: string,
    tags?: readonly string[],
  ): Promise<void> => (await shelf.begin(key, tags)).finish(text);

  test('has what it was given, and the last of it', async (shelf) => {
    assert.equal(await shelf.find('/a'), undefined);
    await fill(shelf, '/a', '1');
    assert.equal(await shelf.find('/a'), '1');
    assert.equal(await shelf.find('/b'), undefined);
    await shelf.delete('/a');
    await fill(shelf, '/a', '2');
    assert.equal(await shelf.find('/a'), '2');
  });

  test(
    'has it until its time is up',
    async (shelf) => {
      await fill(shelf, '/a', '1');
      await sleep(120);
      assert.equal(await shelf.find('/a'), undefined);
    },
    { ttl: 50 },
  );

  const drops: Record<string, (shelf: ShelfUnderTest) => Promise<unknown> | void> = {
    'its key': (shelf) => shelf.delete('/a'),
    'one of its tags': (shelf) => shelf.invalidate('t2'),
    everything: (shelf) => shelf.clear(),
  };
  for (const [name, drop] of Object.entries(drops)) {
    test(`forgets with ${name}, and nothing else`, async (shelf) => {
      await fill(shelf, '/a', '1', ['t1', 't2']);
      await fill(shelf, '/b', '2', ['t1']);
      await drop(shelf);
      assert.equal(await shelf.find('/a'), undefined);
      assert.equal(await shelf.find('/b'), name === 'everything' ? undefined : '2');
      await fill(shelf, '/a', '3', ['t1', 't2']);
      assert.equal(await shelf.find('/a'), '3');
    });

    test(`refuses what was begun before a drop of ${name}`, async (shelf) => {
      const before = await shelf.begin('/a', ['t1', 't2']);
      await drop(shelf);
      await before.finish('1');
      assert.equal(await shelf.find('/a'), undefined);
      await fill(shelf, '/a', '2', ['t1', 't2']);
      assert.equal(await shelf.find('/a'), '2');
    });
  }

  test('takes what was begun before a drop of something else', async (shelf) => {
    // Of a tag that is new nobody can tell when it was dropped last.
    await fill(shelf, '/b', '0', ['t1']);
    const before = await shelf.begin('/a', ['t1']);
    await shelf.delete('/other');
    await shelf.invalidate('other');
    await before.finish('1');
    assert.equal(await shelf.find('/a'), '1');
  });

  test(
    'keeps its bounds: not what is too large, and not all of what there is',
    async (shelf) => {
      await fill(shelf, '/large', JSON.stringify(['x'.repeat(80_000)]));
      assert.equal(await shelf.find('/large'), undefined);
      const text = JSON.stringify(['x'.repeat(2_000)]);
      for (let n = 0; n < 100; n++) await fill(shelf, `/${n}`, text);
      const found = await Promise.all(Array.from({ length: 100 }, (_, n) => shelf.find(`/${n}`)));
      const count = found.filter((each) => each === text).length;
      assert.ok(count > 0 && count <= 32, `${count} of 100 are there`);
    },
    { maxBytes: 64 * 1024 },
  );
}
