import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { studentInterval } from '../../src/stats/bootstrap.ts';
import { borrowSpread } from '../../src/stats/borrowed-spread.ts';
import { normal, seededRandom, type Random } from '../../src/stats/random.ts';

describe('borrowSpread', () => {
  test('servers that vary alike have almost the same variance, known as well as from three times as many restarts', () => {
    const spreads = Array.from({ length: 11 }, () => 0.04);
    const { variances, degrees } = borrowSpread(invent(seededRandom(3), spreads, 5));
    assert.equal(degrees, 12);
    const [low, high] = [Math.min(...variances), Math.max(...variances)].map(Math.sqrt);
    assert.ok(low! > 0.025 && high! < 0.06, `${low} to ${high}`);
  });

  test('one that varies ten times as much keeps most of its own', () => {
    const spreads = [0.4, ...Array.from({ length: 10 }, () => 0.04)];
    const { variances, degrees } = borrowSpread(invent(seededRandom(3), spreads, 8));
    assert.ok(Math.sqrt(variances[0]!) > 0.15, String(Math.sqrt(variances[0]!)));
    assert.ok(degrees < 21, String(degrees));
  });

  test('what a restart does to all of them, and how they differ, is no spread', () => {
    const levels = invent(seededRandom(7), [0.02, 0.04, 0.06, 0.04, 0.05], 5);
    const shifted = levels.map((row, restart) =>
      row.map((level, server) => level + 0.3 * restart + 2 * server),
    );
    const [plain, moved] = [borrowSpread(levels), borrowSpread(shifted)];
    plain.variances.forEach((variance, server) =>
      assert.ok(Math.abs(variance - moved.variances[server]!) < 1e-12),
    );
  });

  test('servers that always say the same have no spread', () => {
    const { variances } = borrowSpread(invent(seededRandom(1), [0, 0, 0, 0, 0], 4));
    for (const variance of variances) assert.ok(variance < 1e-20, String(variance));
  });

  for (const restarts of [3, 5, 8]) {
    for (const [name, unequal] of [
      ['alike', 0],
      ['half or twice as much as each other', 0.6],
    ] as const) {
      test(`of ${restarts} restarts of servers that vary ${name}, the interval holds the truth as often as it says`, () => {
        const random = seededRandom(42);
        const runs = 2_000;
        let held = 0;
        for (let run = 0; run < runs; run++) {
          const spreads = Array.from(
            { length: 11 },
            () => 0.04 * Math.exp(unequal * normal(random)),
          );
          const levels = invent(random, spreads, restarts);
          const { variances, degrees } = borrowSpread(levels);
          const variance = variances[0]! + variances[1]!;
          const ratios = levels.map((row) => row[0]! - row[1]!);
          const { low, high } = studentInterval(ratios, { variance, degrees });
          if (low <= 1 && high >= 1) held++;
        }
        assert.ok(held >= 0.93 * runs && held <= 0.975 * runs, `${held} of ${runs}`);
      });
    }
  }
});

/** Log levels of servers that cost the same: a row for each restart, all of whose servers are slower or faster alike. */
function invent(random: Random, spreads: readonly number[], restarts: number): number[][] {
  return Array.from({ length: restarts }, () => {
    const machine = 0.1 * normal(random);
    return spreads.map((spread) => machine + spread * normal(random));
  });
}
