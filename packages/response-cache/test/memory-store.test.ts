import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { memoryStore } from '../src/store/memory-store.ts';
import { storeContract } from '../src/testing/store-contract.ts';

describe('memoryStore', () => {
  const store = memoryStore();
  storeContract(() => store);

  it('keeps at most maxEntries, and lets the oldest go', () => {
    const small = memoryStore({ maxEntries: 3 });
    for (const key of ['a', 'b', 'c', 'd']) small.set(key, '1', 60_000);
    assert.equal(small.size, 3);
    assert.equal(small.get('a'), undefined);
    assert.equal(small.get('d'), '1');
  });

  it('spares what was read lately', () => {
    const small = memoryStore({ maxEntries: 3 });
    for (const key of ['a', 'b', 'c']) small.set(key, '1', 60_000);
    small.get('a');
    small.set('d', '1', 60_000);
    assert.equal(small.get('a'), '1');
    assert.equal(small.get('b'), undefined);
  });

  it('still lets something go when everything was read', () => {
    const small = memoryStore({ maxEntries: 3 });
    for (const key of ['a', 'b', 'c']) small.set(key, '1', 60_000);
    for (const key of ['a', 'b', 'c']) small.get(key);
    small.set('d', '1', 60_000);
    assert.equal(small.size, 3);
    assert.equal(small.get('d'), '1');
  });

  it('keeps at most maxLength characters', () => {
    const small = memoryStore({ maxLength: 1_000 });
    for (let i = 0; i < 100; i++) small.set(`key${i}`, 'x'.repeat(94), 60_000);
    assert.equal(small.size, 10);
    small.set('big', 'x'.repeat(900), 60_000);
    assert.equal(small.get('big')?.length, 900);
    assert.ok(small.size <= 2);
  });

  it('does not keep a value that is longer than maxLength alone, nor the one it replaces', () => {
    const small = memoryStore({ maxLength: 100 });
    small.set('a', '1', 60_000);
    small.set('b', '1', 60_000);
    small.set('a', 'x'.repeat(101), 60_000);
    assert.equal(small.get('a'), undefined);
    assert.equal(small.get('b'), '1');
  });

  for (const maxEntries of [0, -1, 1.5, Number.NaN]) {
    it(`refuses maxEntries ${maxEntries}`, () => {
      assert.throws(() => memoryStore({ maxEntries }), { code: 'ERR_REDLINE_CACHE_OPTION' });
    });
  }
});
