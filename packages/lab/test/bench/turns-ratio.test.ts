import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { turnsLevel, turnsRatio } from '../../src/bench/turns-ratio.ts';
import type { Slice, Turn } from '../../src/bench/result.ts';

/** A turn of a hundred requests, in µs for each of the main thread and of the others. */
function turn(main: number, others: number): Turn {
  return { requests: 100, cpuMicros: 100 * (main + others), mainThreadMicros: 100 * main };
}

function slice(...turns: Turn[]): Slice {
  return { restart: 1, block: 1, variant: 'one', requests: 1, seconds: 1, cpuMicros: 1, turns };
}

describe('CPU in turns', () => {
  const steady = slice(turn(10, 4), turn(10, 4), turn(10, 4), turn(10, 4));

  test('is that of a whole turn where the work moves from one thread to another, as the work of Go does', () => {
    const moving = slice(turn(0, 14), turn(14, 0), turn(3, 11), turn(13.9, 0.2));
    assert.equal(turnsLevel([moving]), 14);
    assert.equal(turnsRatio([moving], [[steady]])!.value, 0);
  });
});
