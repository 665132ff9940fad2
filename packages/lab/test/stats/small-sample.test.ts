import assert from 'node:assert/strict';
import { test } from 'node:test';
import { smallSampleTail, tQuantile } from '../../src/stats/small-sample.ts';

test('the percentiles are further out, the fewer restarts there are', () => {
  // 1 - pnorm(sqrt(n / (n - 1)) * qt(0.975, n - 1))
  for (const [restarts, tail] of [
    [5, 0.00095],
    [8, 0.0057],
    [14, 0.0125],
    [30, 0.0188],
    [10_000, 0.025],
  ] as const) {
    assert.ok(Math.abs(smallSampleTail(restarts) / tail - 1) < 0.02, String(restarts));
  }
});

test('Student’s t is exact where its series is not', () => {
  assert.deepEqual([1, 2, 3].map(tQuantile), [12.7062, 4.3027, 3.1824]);
  assert.ok(Math.abs(tQuantile(4) - 2.7764) < 0.003);
});

test('of one restart it holds 95 % of what its blocks can show', () => {
  assert.equal(smallSampleTail(1), 0.025);
});
