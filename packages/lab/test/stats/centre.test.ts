import assert from 'node:assert/strict';
import { test } from 'node:test';
import { centreOf } from '../../src/stats/centre.ts';

test('of one or two values, and of symmetric ones, the centre is the mean', () => {
  assert.equal(centreOf([3]), 3);
  assert.equal(centreOf([3, 5]), 4);
  assert.equal(centreOf([1, 2, 4, 5]), 3);
});

test('one wild value among ten moves the centre by less than a step', () => {
  const calm = [1, 2, 3, 4, 5, 6, 7, 8, 9];
  assert.ok(Math.abs(centreOf([...calm, 1_000]) - centreOf(calm)) < 1);
});

test('does not depend on the order, and leaves what it is given', () => {
  const values = [5, 1, 4, 2, 9];
  assert.equal(centreOf(values), centreOf(values.toSorted((a, b) => a - b)));
  assert.deepEqual(values, [5, 1, 4, 2, 9]);
});
