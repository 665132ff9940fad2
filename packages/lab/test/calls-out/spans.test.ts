import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orderOf, timeOpen } from '../../src/calls-out/summarise-calls.ts';

/** A call from one time to another, in which the loop is idle for all but the given CPU. */
function span(fromMs: number, toMs: number, cpuMs = 0): Parameters<typeof timeOpen>[0][number] {
  return { fromMs, toMs, fromIdleMs: fromMs, toIdleMs: toMs - cpuMs, fromCpuMs: 0, toCpuMs: cpuMs };
}

test('the wait of calls that overlap counts once', () => {
  assert.deepEqual(timeOpen([]), { waitMs: 0, cpuMs: 0 });
  assert.deepEqual(timeOpen([span(0, 10, 2), span(20, 30, 1)]), { waitMs: 17, cpuMs: 3 });
  assert.deepEqual(timeOpen([span(0, 10), span(5, 12), span(6, 8)]), { waitMs: 12, cpuMs: 0 });
});

test('the order of calls is that of their times', () => {
  assert.equal(orderOf([span(0, 1)]), 'one');
  assert.equal(orderOf([span(0, 1), span(1, 2), span(5, 6)]), 'one after another');
  assert.equal(orderOf([span(2, 9), span(0, 5), span(1, 3)]), 'together');
  assert.equal(orderOf([span(0, 5), span(1, 3), span(6, 8)]), 'mixed');
});
