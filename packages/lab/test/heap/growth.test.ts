import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { grows, growthOf, minGrowth } from '../../src/heap/growth.ts';
import type { Reading } from '../../src/heap/result.ts';
import { seededRandom } from '../../src/stats/random.ts';
import { theilSen } from '../../src/stats/theil-sen.ts';

/** Readings after rounds of 1,000 requests. */
function readings(held: readonly number[]): Reading[] {
  return held.map((bytes, round) => ({
    requests: round * 1_000,
    heapUsed: bytes,
    external: 0,
    arrayBuffers: 0,
    rss: bytes,
  }));
}

function noisy(rounds: number, of: (round: number) => number, noise: number): number[] {
  const random = seededRandom(7);
  return Array.from({ length: rounds + 1 }, (_, round) => of(round) + (random() - 0.5) * noise);
}

describe('the slope of Theil and Sen', () => {
  test('of points on a line is that of the line, with an interval of no width', () => {
    assert.deepEqual(theilSen([0, 1, 2, 3, 4, 5].map((x) => [x, 3 * x + 1] as const)), {
      value: 3,
      low: 3,
      high: 3,
    });
  });

  test('has the true slope in its interval with a third of the points far off', () => {
    const points = Array.from({ length: 9 }, (_, x) => [x, x % 3 === 1 ? 900 : 2 * x] as const);
    const { value, low, high } = theilSen(points.map(([x, y]) => [x, y] as const));
    assert.ok(low < 2 && 2 < high, `${low} ${value} ${high}`);
  });

  test('of too few points is unknown', () => {
    const { low, high } = theilSen([
      [0, 1],
      [1, 2],
      [2, 3],
    ]);
    assert.deepEqual([low, high], [-Infinity, Infinity]);
  });
});

describe('memory', () => {
  test('that grows with the requests grows', () => {
    const growth = growthOf(readings(noisy(8, (round) => 5e6 + round * 100_000, 40_000)));
    assert.ok(grows(growth));
    assert.ok(growth.held.low < 100_000 && 100_000 < growth.held.high);
  });

  test('that only moves does not', () => {
    assert.ok(!grows(growthOf(readings(noisy(8, () => 5e6, 60_000)))));
  });

  test('of a cache that fills and is full does not grow', () => {
    const held = noisy(8, (round) => 5e6 + Math.min(round, 4) * 200_000, 1_000);
    assert.ok(!grows(growthOf(readings(held))));
  });

  test('that grows by less than a pointer for each request is not named', () => {
    const held = noisy(8, (round) => 5e6 + round * minGrowth * 0.5, 100);
    assert.ok(!grows(growthOf(readings(held))));
  });
});
