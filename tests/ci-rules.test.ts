import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ComparedRun, judgeAll } from '../benchmarks/ci-rules.ts';
import { ciComparedText } from '../benchmarks/tables/real-runs.ts';

/** A run whose figures all read the same share more. */
function runOf(change: number, reads: number, more: Partial<ComparedRun> = {}): ComparedRun {
  return {
    change,
    startedAt: '2026-01-02T03:04:05.678Z',
    seconds: 100,
    ci: {
      restarts: 5,
      more: { value: reads, low: reads - 0.01, high: reads + 0.01 },
      noise: 0.015,
    },
    single: { base: 1_000 * (1 + reads), present: 1_000 },
    simulated: {
      base: { instructions: 1, cycles: 100 },
      present: { instructions: 1, cycles: 100 * (1 + reads) },
    },
    ...more,
  };
}

test('a planted change is judged by each rule, and missing figures are not counted', () => {
  const judged = judgeAll([
    runOf(0, 0.06),
    runOf(0, 0, { simulated: null }),
    runOf(0.05, 0.05),
    runOf(0.1, 0.11),
  ]);
  const red = Object.values(judged).map((counts) =>
    ['0', '5', '10'].map((change) => `${counts[change]!.red} of ${counts[change]!.runs}`),
  );
  assert.deepEqual(red, [
    ['1 of 2', '1 of 1', '1 of 1'],
    ['1 of 2', '1 of 1', '1 of 1'],
    ['0 of 2', '0 of 1', '0 of 1'],
    ['0 of 2', '0 of 1', '1 of 1'],
    ['1 of 2', '0 of 1', '1 of 1'],
    ['0 of 1', '0 of 1', '1 of 1'],
    ['1 of 1', '1 of 1', '1 of 1'],
    ['1 of 1', '1 of 1', '1 of 1'],
  ]);
});

test('an interval within the noise of the base, or without it, is not red', () => {
  const noisy = { more: { value: 0.06, low: 0.04, high: 0.08 }, restarts: 4 };
  const runs = [0.05, null].map((noise) => runOf(0.05, 0.06, { ci: { ...noisy, noise } }));
  assert.deepEqual(judgeAll(runs)['`redline ci`, 3 % allowed (default)']!['5'], {
    runs: 2,
    red: 0,
  });
});

test('the table of the guide has false and missed reds', () => {
  const text = ciComparedText({ runs: [runOf(0, 0), runOf(0.1, 0.11)] });
  assert.match(
    text,
    /\| red without a change \| missed at 3 % \| missed at 5 % \| missed at 10 % \|/,
  );
  assert.match(text, /github-action-benchmark, 200 % \(default\) \| 0 of 1 \| – \| – \| 1 of 1 \|/);
});
