import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Interval } from '../../src/result.ts';
import { bandOf, compare, judge, judgeControl } from '../../src/stats/verdict.ts';

const interval = (low: number, high: number): Interval => ({
  low,
  high,
  value: Math.sqrt(low * high),
});

describe('judge', () => {
  test('an interval wholly outside the band is changed, on either side', () => {
    assert.equal(judge(interval(1.03, 1.1), 0.02), 'changed');
    assert.equal(judge(interval(0.9, 0.97), 0.02), 'changed');
  });

  test('an interval wholly inside the band is same', () => {
    assert.equal(judge(interval(0.99, 1.01), 0.02), 'same');
  });

  test('an interval across an edge is unresolved, though it excludes 1', () => {
    assert.equal(judge(interval(1.005, 1.05), 0.02), 'unresolved');
    assert.equal(judge(interval(0.9, 1.1), 0.02), 'unresolved');
  });
});

describe('bandOf', () => {
  test('is 2 % when the baseline agrees with itself more closely than that', () => {
    assert.equal(bandOf(interval(0.995, 1.004)), 0.02);
  });

  test('is half as wide as the interval of the baseline against itself, wherever that lies', () => {
    const half = Math.sqrt(1.06 / 0.98) - 1;
    assert.ok(Math.abs(bandOf(interval(0.98, 1.06)) - half) < 1e-12);
    assert.ok(Math.abs(bandOf(interval(1 / 1.06, 1 / 0.98)) - half) < 1e-12);
  });

  test('what the baseline does to itself is never called changed in another variant, unless the run is void', () => {
    for (const control of [interval(0.97, 1.05), interval(0.99, 1.1), interval(0.96, 1.0)]) {
      assert.equal(judgeControl(control), 'same');
      assert.notEqual(judge(control, bandOf(control)), 'changed');
    }
  });
});

describe('judgeControl', () => {
  test('is same when the interval holds 1, however wide', () => {
    assert.equal(judgeControl(interval(0.8, 1.2)), 'same');
  });

  test('is changed when the baseline differs from itself by more than 2 %', () => {
    assert.equal(judgeControl(interval(1.03, 1.1)), 'changed');
  });
});

describe('compare', () => {
  test('says how many blocks would settle what is unresolved', () => {
    const { blocksToSettle } = compare(interval(0.99, 1.06), 0.02, 50);
    assert.ok(blocksToSettle !== undefined && blocksToSettle > 50);
    assert.equal(blocksToSettle % 10, 0);
  });

  test('names no number for an estimate that lies on the edge itself', () => {
    assert.equal(compare(interval(1.0, 1.0404), 0.02, 50).blocksToSettle, undefined);
  });

  test('names no number for what is settled', () => {
    assert.equal('blocksToSettle' in compare(interval(2, 3), 0.02, 50), false);
  });
});
