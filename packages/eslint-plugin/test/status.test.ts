import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Evidence, type Measurement, paysOn, statusOf } from '../src/index.ts';

function evidence(...measured: [node: string, ratio: number, verdict: Measurement['verdict']][]) {
  return {
    measurements: measured.map(([node, value, verdict]) => ({
      node,
      verdict,
      ratio: { value, low: value, high: value },
    })) as Evidence['measurements'],
  };
}

describe('what the evidence makes of a rule:', () => {
  test('it is on when it pays on every measured Node', () => {
    assert.equal(statusOf(evidence(['10.0.0', 2, 'changed'], ['24.0.0', 1.5, 'changed'])), 'on');
  });

  test('it is gated when it pays on some', () => {
    assert.equal(statusOf(evidence(['10.0.0', 2, 'changed'], ['24.0.0', 1, 'same'])), 'gated');
  });

  test('it is refuted when it pays on none, be it slower, the same or not settled', () => {
    const measured = evidence(['10.0.0', 0.5, 'changed'], ['24.0.0', 1, 'same']);
    assert.equal(statusOf(measured), 'refuted');
    assert.equal(statusOf(evidence(['24.0.0', 1.4, 'unresolved'])), 'refuted');
    assert.equal(statusOf(evidence()), 'refuted');
  });

  test('a version between two measured ones is believed where both agree', () => {
    const grows = evidence(
      ['10.0.0', 1, 'same'],
      ['24.0.0', 2, 'changed'],
      ['26.0.0', 2, 'changed'],
    );
    assert.deepEqual(
      [8, 10, 22, 24, 25, 26, 27].filter((major) => paysOn(grows, major)),
      [24, 25, 26, 27],
    );
  });
});
