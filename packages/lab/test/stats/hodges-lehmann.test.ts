import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hodgesLehmann } from '../../src/stats/order-statistics.ts';

test('of one or two values, and of symmetric ones, the centre is the mean', () => {
  assert.equal(hodgesLehmann([3]), 3);
  assert.equal(hodgesLehmann([3, 5]), 4);
  assert.equal(hodgesLehmann([1, 2, 4, 5]), 3);
});

test('one wild value among ten moves the centre by less than a step', () => {
  const calm = [1, 2, 3, 4, 5, 6, 7, 8, 9];
  assert.ok(Math.abs(hodgesLehmann([...calm, 1_000]) - hodgesLehmann(calm)) < 1);
});

test('does not depend on the order, and leaves what it is given', () => {
  const values = [5, 1, 4, 2, 9];
  assert.equal(hodgesLehmann(values), hodgesLehmann(values.toSorted((a, b) => a - b)));
  assert.deepEqual(values, [5, 1, 4, 2, 9]);
});
