import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zipf } from '../benchmarks/zipf.ts';

test('of many numbers a few are drawn often, each at least once, and the same in each run', () => {
  const drawn = zipf(1_000, 4_096);
  const timesOf = (number: number): number => drawn.filter((each) => each === number).length;
  assert.equal(new Set(drawn).size, 1_000);
  // 4,096 divided by the sum of 1 / k up to 1,000, which is 7.485.
  assert.deepEqual([1, 2, 10, 1_000].map(timesOf), [547, 274, 55, 1]);
  assert.deepEqual(zipf(1_000, 4_096), drawn);
  const firstTenth = drawn.slice(0, drawn.length / 10);
  assert.ok(firstTenth.includes(1) && firstTenth.some((each) => each > 500), 'shuffled');
});
