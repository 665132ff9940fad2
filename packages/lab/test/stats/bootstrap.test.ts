import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { medianInterval, ratioInterval } from '../../src/stats/bootstrap.ts';
import { seededRandom, type Random } from '../../src/stats/random.ts';

describe('ratioInterval', () => {
  test('gives the same interval for the same seed, and another for another', () => {
    const data = noisy(seededRandom(1), { restarts: 14, blocks: 10, effect: 0.1 });
    const first = ratioInterval(data, seededRandom(7));
    assert.deepEqual(ratioInterval(data, seededRandom(7)), first);
    assert.notDeepEqual(ratioInterval(data, seededRandom(8)), first);
  });

  test('is exact when every block says the same', () => {
    const data = [
      [Math.log(2), Math.log(2)],
      [Math.log(2), Math.log(2)],
    ];
    const { value, low, high } = ratioInterval(data, seededRandom(1));
    for (const edge of [value, low, high]) assert.ok(Math.abs(edge - 2) < 1e-12);
  });

  test('one wild block in each restart does not move it', () => {
    const calm = [0.1, 0.11, 0.1, 0.09, 0.1];
    const wild = [0.1, 0.11, 5, 0.09, 0.1];
    const { value } = ratioInterval([wild, calm, wild], seededRandom(1));
    assert.ok(Math.abs(value - Math.exp(0.1)) < 0.01, String(value));
  });

  test('does not take the slices of one restart for replicates: restarts that disagree widen it', () => {
    const block = (centre: number): number[] =>
      Array.from({ length: 50 }, (_, i) => centre + ((i % 5) - 2) * 0.001);
    const agreeing = ratioInterval([0, 0, 0, 0, 0].map(block), seededRandom(1));
    const disagreeing = ratioInterval([-0.1, -0.05, 0, 0.05, 0.1].map(block), seededRandom(1));
    assert.ok(width(agreeing) < 0.005, String(width(agreeing)));
    assert.ok(width(disagreeing) > 0.08, String(width(disagreeing)));
  });

  for (const restarts of [2, 3, 4, 5, 6, 14]) {
    test(`covers the true ratio in 95 of 100 simulated runs of ${restarts} restarts`, () => {
      const random = seededRandom(42);
      let covered = 0;
      const runs = 400;
      for (let run = 0; run < runs; run++) {
        const data = noisy(random, { restarts, blocks: 4, effect: 0.2 });
        const { low, high } = ratioInterval(data, random, 1_000);
        if (low <= Math.exp(0.2) && high >= Math.exp(0.2)) covered++;
      }
      // Within two standard errors of 95 %, or wider.
      assert.ok(covered >= runs * 0.93, `${covered} of ${runs}`);
      if (restarts < 6) assert.ok(covered <= runs * 0.975, `${covered} of ${runs}`);
    });
  }
});

test('medianInterval lies between the smallest and the largest value', () => {
  const { value, low, high } = medianInterval([3, 1, 2, 5, 4], seededRandom(1));
  assert.equal(value, 3);
  assert.ok(low >= 1 && low < 3 && high > 3 && high <= 5);
});

/** Log ratios with noise on both levels, as servers have it. */
function noisy(
  random: Random,
  shape: { restarts: number; blocks: number; effect: number },
): number[][] {
  return Array.from({ length: shape.restarts }, () => {
    const restart = 0.02 * gaussian(random);
    return Array.from(
      { length: shape.blocks },
      () => shape.effect + restart + 0.03 * gaussian(random),
    );
  });
}

/** Box–Muller. */
function gaussian(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

function width({ low, high }: { low: number; high: number }): number {
  return high - low;
}
