import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Slice } from '../../src/bench/result.ts';
import { ratioBetween } from '../../src/bench/compare-slices.ts';
import { cpuMetric, cpuPerRequest, pairedRatio, rpsMetric } from '../../src/bench/paired-ratio.ts';
import { seededRandom } from '../../src/stats/random.ts';

const random = seededRandom(1);

describe('pairedRatio', () => {
  test('is better above 1, in requests per second and in CPU', () => {
    const slices = [1, 2].flatMap((restart) => [
      slice(restart, 1, 'base', { requests: 100, cpuMicros: 4_000 }),
      slice(restart, 1, 'fast', { requests: 200, cpuMicros: 4_000 }),
    ]);
    const ratio = (metric: typeof cpuMetric) =>
      pairedRatio({ slices, name: 'fast', others: ['base'] }, metric, random, 100).value;
    assert.ok(Math.abs(ratio(cpuMetric) - 2) < 1e-12);
    assert.ok(Math.abs(ratio(rpsMetric) - 2) < 1e-12);
  });

  test('compares with the mean of several', () => {
    const slices = [1, 2].flatMap((restart) => [
      slice(restart, 1, 'base', { cpuMicros: 4_000 }),
      slice(restart, 1, 'base again', { cpuMicros: 1_000 }),
      slice(restart, 1, 'variant', { cpuMicros: 1_000 }),
    ]);
    const { value } = pairedRatio(
      { slices, name: 'variant', others: ['base', 'base again'] },
      cpuMetric,
      random,
      9,
    );
    assert.ok(Math.abs(value - 2) < 1e-12, String(value));
  });

  test('leaves out a block that one of them lacks, and a restart that has none', () => {
    const slices = [
      slice(1, 1, 'base', { cpuMicros: 1_000 }),
      slice(1, 1, 'variant', { cpuMicros: 1_000 }),
      slice(1, 2, 'variant', { cpuMicros: 9_000 }),
      slice(2, 1, 'variant', { cpuMicros: 9_000 }),
    ];
    assert.equal(
      pairedRatio({ slices, name: 'variant', others: ['base'] }, cpuMetric, random, 9).value,
      1,
    );
  });
});

describe('ratioBetween', () => {
  const slices = [1, 2, 3].flatMap((restart) => [
    slice(restart, 1, 'base', { requests: 100, cpuMicros: 4_000 }),
    slice(restart, 1, 'a', { requests: 200, cpuMicros: 4_000 }),
    slice(restart, 1, 'b', { requests: 300, cpuMicros: 2_000 + restart }),
    slice(restart, 2, 'elsewhere', {}),
  ]);

  test('compares two variants, neither of which is the baseline, with an interval', () => {
    const rps = ratioBetween(slices, { variant: 'b', other: 'a', metric: 'rps' })!;
    assert.ok(Math.abs(rps.value - 1.5) < 1e-12, String(rps.value));
    const cpu = ratioBetween(slices, { variant: 'b', other: 'a', metric: 'cpu' })!;
    assert.ok(cpu.low < cpu.value && cpu.value < cpu.high, JSON.stringify(cpu));
    assert.ok(cpu.value > 2.9 && cpu.value < 3.1);
  });

  test('is undefined for two that share no block', () => {
    const other = 'elsewhere';
    assert.equal(ratioBetween(slices, { variant: 'a', other, metric: 'rps' }), undefined);
    assert.equal(ratioBetween(slices, { variant: 'gone', other, metric: 'rps' }), undefined);
  });
});

describe('CPU in turns', () => {
  test('is the mean of the lower half of a restart, whatever disturbed the rest', () => {
    const own = [
      slice(1, 1, 'a', { turns: [20, 31, 90, 30] }),
      slice(1, 2, 'a', { turns: [30, 26, 24, 400] }),
    ];
    assert.equal(cpuPerRequest(own), 25);
  });

  test('is that of the main thread in its quicker half, and of all others in their quickest quarter', () => {
    const turns = [
      { requests: 10, cpuMicros: 130, mainThreadMicros: 100 },
      { requests: 10, cpuMicros: 140, mainThreadMicros: 130 },
      { requests: 10, cpuMicros: 150, mainThreadMicros: 120 },
      { requests: 10, cpuMicros: 150, mainThreadMicros: 130 },
    ];
    assert.equal(cpuPerRequest([{ ...slice(1, 1, 'a', {}), turns }]), 11 + 1);
  });

  test('is compared by these levels, and not by the slices beside them', () => {
    const slices = [1, 2, 3].flatMap((restart) => [
      slice(restart, 1, 'base', { cpuMicros: 1, turns: [20, 20, 60, 20] }),
      slice(restart, 1, 'twin', { cpuMicros: 9, turns: [70, 21, 21, 21] }),
    ]);
    const { value, low, high } = pairedRatio(
      { slices, name: 'twin', others: ['base'] },
      cpuMetric,
      random,
      200,
    );
    assert.ok(Math.abs(value - 20 / 21) < 1e-12, String(value));
    assert.ok(low <= value && value <= high && low > 0.2 && high < 3);
  });

  test('needs turns of all that are compared; else the slices are', () => {
    const slices = [1, 2].flatMap((restart) => [
      slice(restart, 1, 'base', { cpuMicros: 3_000, turns: [20] }),
      slice(restart, 1, 'twin', { cpuMicros: 1_000 }),
    ]);
    const { value } = pairedRatio({ slices, name: 'twin', others: ['base'] }, cpuMetric, random, 9);
    assert.ok(Math.abs(value - 3) < 1e-12, String(value));
  });
});

/** @param given.turns µs per request of each turn */
function slice(
  restart: number,
  block: number,
  variant: string,
  {
    requests = 100,
    cpuMicros = 1_000,
    turns,
  }: Partial<Omit<Slice, 'turns'>> & { turns?: number[] },
): Slice {
  return {
    restart,
    block,
    variant,
    requests,
    seconds: 0.1,
    cpuMicros,
    ...(turns ? { turns: turns.map((each) => ({ requests: 10, cpuMicros: each * 10 })) } : {}),
  };
}
