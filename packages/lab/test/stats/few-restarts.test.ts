import assert from 'node:assert/strict';
import { test } from 'node:test';
import { smallSampleTail } from '../../src/stats/few-restarts.ts';

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

test('of two or three restarts the interval holds all that can be drawn', () => {
  assert.ok(smallSampleTail(2) < 1e-6);
  assert.ok(smallSampleTail(3) < 1e-6);
});

test('of one restart it holds 95 % of what its blocks can show', () => {
  assert.equal(smallSampleTail(1), 0.025);
});
