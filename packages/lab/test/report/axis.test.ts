import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { linearAxis, logAxis } from '../../src/report/axis.ts';

describe('axes', () => {
  it('give a ratio axis three to six ticks and a 1 among them, however far the ratios lie apart', () => {
    const spans = [1.001, 1.02, 1.1, 1.3, 1.5, 2, 3, 5, 8, 13, 30, 80, 500, 20_000];
    for (const up of spans) {
      for (const down of spans) {
        const axis = logAxis([1 / down, up]);
        const labels = axis.ticks.map(({ label }) => label);
        assert.ok(labels.length >= 3 && labels.length <= 6, `${down} to ${up}: ${labels}`);
        assert.ok(labels.includes('1'), `${down} to ${up}: ${labels}`);
        for (const { value } of axis.ticks) assert.ok(axis.at(value) >= 0 && axis.at(value) <= 1);
      }
    }
  });

  it('put half and double equally far from the base', () => {
    const axis = logAxis([0.5, 2]);
    assert.ok(Math.abs(axis.at(1) - axis.at(0.5) - (axis.at(2) - axis.at(1))) < 1e-9);
  });

  it('start bars at zero and end on a tick, with three to six of them', () => {
    for (let max = 0.013; max < 1e6; max *= 1.37) {
      const axis = linearAxis([max]);
      assert.equal(axis.ticks[0]?.value, 0);
      assert.ok(
        axis.to >= max && Math.abs((axis.ticks.at(-1)?.value ?? 0) - axis.to) < axis.to * 1e-6,
      );
      assert.ok(
        axis.ticks.length >= 3 && axis.ticks.length <= 6,
        `${max}: ${axis.ticks.map(({ label }) => label)}`,
      );
    }
  });

  it('stand without a single usable value', () => {
    assert.equal(logAxis([Number.NaN, 0, Infinity]).at(1), 0.5);
    assert.ok(linearAxis([Number.NaN]).to > 0);
  });
});
