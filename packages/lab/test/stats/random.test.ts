import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quantileOfSorted } from '../../src/stats/order-statistics.ts';
import { normal, seededRandom, shuffled } from '../../src/stats/random.ts';

test('a seed repeats its numbers, which are even over [0, 1)', () => {
  const random = seededRandom(3);
  const again = seededRandom(3);
  const buckets = Array.from({ length: 10 }, () => 0);
  for (let i = 0; i < 20_000; i++) {
    const value = random();
    assert.equal(value, again());
    buckets[Math.floor(value * 10)]!++;
  }
  for (const count of buckets) assert.ok(count > 1_800 && count < 2_200, String(buckets));
});

test('a shuffle keeps every item and puts each first about equally often', () => {
  const random = seededRandom(5);
  const first = { a: 0, b: 0, c: 0 };
  for (let i = 0; i < 3_000; i++) {
    const order = shuffled(['a', 'b', 'c'] as const, random);
    assert.deepEqual([...order].sort(), ['a', 'b', 'c']);
    first[order[0]!]++;
  }
  for (const count of Object.values(first)) assert.ok(count > 900 && count < 1_100);
});

test('normal values have mean 0 and deviation 1', () => {
  const random = seededRandom(7);
  const values = Array.from({ length: 20_000 }, () => normal(random));
  const mean = values.reduce((sum, each) => sum + each, 0) / values.length;
  const variance = values.reduce((sum, each) => sum + each ** 2, 0) / values.length;
  assert.ok(Math.abs(mean) < 0.03, String(mean));
  assert.ok(Math.abs(variance - 1) < 0.05, String(variance));
});

test('quantiles interpolate between order statistics', () => {
  assert.equal(quantileOfSorted([1, 2, 3, 4], 0.5), 2.5);
  assert.equal(quantileOfSorted([1, 2, 3, 4], 0), 1);
  assert.equal(quantileOfSorted([1, 2, 3, 4], 1), 4);
  assert.ok(Number.isNaN(quantileOfSorted([], 0.5)));
});
