import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Interval } from '../../src/figures.ts';
import { bandOf, compare, holdsOne, judge } from '../../src/stats/verdict.ts';

const interval = (low: number, high: number): Interval => ({
  low,
  high,
  value: Math.sqrt(low * high),
});

const calm = { margin: 0.02, band: 0.02 };
/** A run that cannot tell the baseline from itself within half. */
const noisy = { margin: 0.02, band: 0.5 };

describe('judge', () => {
  test('an estimate beyond the band, with an interval that excludes 1, is changed, on either side', () => {
    assert.equal(judge(interval(1.03, 1.1), calm), 'changed');
    assert.equal(judge(interval(0.9, 0.97), calm), 'changed');
    assert.equal(judge(interval(1.005, 1.05), calm), 'changed');
    assert.equal(judge(interval(0.947, 0.991), calm), 'changed');
  });

  test('an interval around 1 and wholly within the margin is same', () => {
    assert.equal(judge(interval(0.99, 1.01), calm), 'same');
  });

  test('an estimate beyond the band is unresolved while its interval contains 1', () => {
    assert.equal(judge(interval(0.999, 1.1), calm), 'unresolved');
    assert.equal(judge(interval(0.9, 1.1), calm), 'unresolved');
  });

  test('an interval that is not known is unresolved', () => {
    assert.equal(judge({ value: NaN, low: NaN, high: NaN }, calm), 'unresolved');
    assert.equal(judge({ value: 1.5, low: NaN, high: NaN }, calm), 'unresolved');
  });

  test('the noise of a run widens what is unresolved, never what is same', () => {
    assert.equal(judge(interval(0.9, 1.1), noisy), 'unresolved');
    assert.equal(judge(interval(1.03, 1.1), noisy), 'unresolved');
    assert.equal(judge(interval(0.99, 1.01), noisy), 'same');
  });

  test('nothing is same whose interval excludes 1, nor changed by less than the margin', () => {
    assert.equal(judge(interval(1.002, 1.015), calm), 'unresolved');
  });

  test('a wider margin calls more the same, and less changed', () => {
    assert.equal(judge(interval(0.96, 1.03), { margin: 0.05, band: 0.05 }), 'same');
    assert.equal(judge(interval(1.01, 1.08), { margin: 0.05, band: 0.05 }), 'unresolved');
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
      assert.ok(holdsOne(control));
      assert.notEqual(judge(control, { margin: 0.02, band: bandOf(control) }), 'changed');
    }
  });
});

describe('holdsOne', () => {
  test('holds of a baseline whose interval against itself holds 1, however wide', () => {
    assert.ok(holdsOne(interval(0.8, 1.2)));
    assert.ok(holdsOne(interval(1, 4)));
  });

  test('does not hold of one that differs from itself', () => {
    assert.ok(!holdsOne(interval(1.03, 1.1)));
    assert.ok(!holdsOne(interval(1.001, 1.004)));
  });
});

describe('compare', () => {
  test('says how many restarts would settle what is unresolved', () => {
    const { restartsToSettle } = compare(interval(1.045, 1.095), { margin: 0.02, band: 0.08 }, 14);
    assert.ok(restartsToSettle !== undefined && restartsToSettle > 14);
  });

  test('asks for more restarts, the nearer the estimate lies to the edge', () => {
    const bounds = { margin: 0.02, band: 0.08 };
    const near = compare(interval(1.04, 1.09), bounds, 14).restartsToSettle;
    const far = compare(interval(1.048, 1.098), bounds, 14).restartsToSettle;
    assert.ok(near !== undefined && far !== undefined && near > far, `${near}, ${far}`);
  });

  test('names no number where the run knows next to nothing', () => {
    assert.equal(compare(interval(0.8, 1.6), calm, 5).restartsToSettle, undefined);
  });

  test('names no number where the longer run would be neither the same nor changed', () => {
    assert.equal(compare(interval(1.0005, 1.0075), calm, 14).restartsToSettle, undefined);
    assert.equal(compare(interval(1.001, 1.015), calm, 14).restartsToSettle, undefined);
  });

  test('names no number for an estimate that lies on the edge itself', () => {
    assert.equal(compare(interval(1.0, 1.0404), calm, 5).restartsToSettle, undefined);
  });

  test('names no number for what is settled', () => {
    assert.equal('restartsToSettle' in compare(interval(2, 3), calm, 5), false);
  });
});
