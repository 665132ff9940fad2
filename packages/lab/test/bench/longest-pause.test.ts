import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type CpuSample, longestPause } from '../../src/bench/restart/longest-pause.ts';

const since = { sentUntilMs: 1, minMicros: 250 };

function pause(...samples: [atMs: number, usedMicros: number, state?: 'runnable'][]): number {
  return longestPause(
    samples.map(([atMs, usedMicros, state]): CpuSample => ({
      atMs,
      usedMicros,
      isRunnable: state !== undefined,
    })),
    since,
  );
}

describe('the longest pause of a server', () => {
  test('lasts until it goes on with its requests', () => {
    assert.equal(pause([0, 0], [1, 300], [2, 300], [20, 300], [21, 900]), 21);
  });

  test('is over when it wants the core, however late it gets it', () => {
    const seen = pause(
      [0, 0, 'runnable'],
      [1, 300],
      [2, 300],
      [20, 300, 'runnable'],
      [30, 300, 'runnable'],
      [31, 1_000],
      [32, 1_000],
    );
    assert.equal(seen, 20);
  });

  test('is counted where the first piece of work is cut short', () => {
    assert.equal(pause([0, 0], [1, 300], [20, 320, 'runnable'], [31, 1_000]), 20);
  });

  test('may lie between two late samples', () => {
    assert.equal(pause([0, 0, 'runnable'], [1, 300, 'runnable'], [25, 2_000]), 24);
  });

  test('does not end with a timer of its own', () => {
    assert.equal(pause([0, 0], [1, 300], [2, 300], [100, 350], [101, 350]), 1);
  });

  test('goes on where a timer of its own, or a thread that compiles, works for a moment', () => {
    assert.equal(pause([0, 0], [1, 300], [2, 300], [10, 350], [11, 350], [21, 900], [22, 900]), 21);
  });

  test('may lie between a sample while requests are sent, and a late one', () => {
    assert.equal(
      pause([-4, 300, 'runnable'], [0.5, 600, 'runnable'], [21, 1_600], [22, 1_600]),
      20.5,
    );
  });

  test('is not over when a request does a little, and waits again', () => {
    const seen = pause(
      [0, 0],
      [1, 600],
      [20, 600],
      [21, 700],
      [40, 700],
      [41, 800],
      [60, 800],
      [61, 900],
    );
    assert.equal(seen, 61);
  });

  test('is not the time in which nothing was sent to it', () => {
    assert.equal(pause([-20, 0], [-1, 0], [0, 300], [1, 600], [2, 600]), 2);
  });

  test('is none where it never went on', () => {
    assert.equal(pause([0, 0], [1, 0], [150, 0]), 0);
  });

  test('of a server that works without one is the time between samples', () => {
    assert.equal(pause([0, 0], [1, 500], [2, 1_000], [3, 1_500, 'runnable'], [4, 2_000]), 2);
  });
});
