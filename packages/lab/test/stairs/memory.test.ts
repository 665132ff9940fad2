import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryOf } from '../../src/stairs/memory.ts';
import { type CutSlice, whole } from '../../src/stairs/preload/protocol.ts';

const slice = (
  round: number,
  cut: number,
  [kilobytes, collectorMicros]: readonly [number, number],
  requests = 100,
): CutSlice => ({
  round,
  cut,
  requests,
  stubs: 0,
  failures: 0,
  seconds: 0.1,
  threadMicros: 200 * requests,
  cpuMicros: 220 * requests,
  allocatedBytes: kilobytes * 1_000 * requests,
  collectorMicros: collectorMicros * requests,
});

/** Ends at cut 2, at cut 5, and nowhere: kB and µs of the collector per request. */
const round = (index: number, extra = 0): CutSlice[] => [
  slice(index, 2, [10, 1]),
  slice(index, 5, [30 + extra, 2]),
  slice(index, whole, [1_030, 42]),
];

test('the memory of a stage is what the next cut takes more, in the median of the rounds', () => {
  const memory = memoryOf([[...round(0), ...round(1, 500), ...round(2, 2)]], [2, 5])!;
  assert.deepEqual(
    memory.stages.map(({ allocatedBytes }) => allocatedBytes.value),
    [10_000, 22_000, 998_000],
  );
  assert.deepEqual(memory.stages[1]!.allocatedBytes, { value: 22_000, low: 20_000, high: 520_000 });
  assert.deepEqual(
    memory.stages.map(({ collectorMicros }) => collectorMicros.value),
    [1, 1, 40],
  );
  // Of the 200 µs of the whole request.
  assert.deepEqual(
    memory.stages.map(({ collectorShare }) => collectorShare),
    [0.005, 0.005, 0.2],
  );
  assert.equal(memory.whole.allocatedBytes.value, 1_030_000);
  assert.equal(memory.whole.collectorShare, 0.21);
});

test('a round that lacks a cut, or has too few requests at one, does not count', () => {
  const few = [...round(1).slice(0, 2), slice(1, whole, [9, 9], 3)];
  const lacking = round(2).slice(1);
  const memory = memoryOf([[...round(0), ...few], lacking], [2, 5])!;
  assert.equal(memory.whole.allocatedBytes.low, 1_030_000);
  assert.equal(memoryOf([few, lacking], [2, 5]), undefined);
  assert.equal(memoryOf([], [2, 5]), undefined);
});
