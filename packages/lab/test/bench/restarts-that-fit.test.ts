import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { restartsThatFit } from '../../src/bench/restart/until-time-is-over.ts';
import type { Plan } from '../../src/config/resolve-plan.ts';

const minute = 60_000;

/** What is planned after each restart, by a clock that starts at `startedAt` and moves on with each of them. */
function planned(
  precision: Pick<Plan['precision'], 'restarts' | 'minutes'>,
  {
    lasting,
    until,
    minRestarts,
  }: { lasting: readonly number[]; until?: number; minRestarts?: number },
): number[] {
  const startedAt = 1_000 * minute;
  let now = startedAt;
  const plan = {
    precision: precision as Plan['precision'],
    ...(until === undefined ? {} : { until: startedAt + until }),
    ...(minRestarts === undefined ? {} : { minRestarts }),
  };
  const fit = restartsThatFit(plan, () => now);
  return lasting.map((ms, index) => {
    now += ms;
    return fit(index + 1);
  });
}

describe('the restarts that fit into a time', () => {
  const half = minute / 2;

  test('are as many as those so far say', () => {
    assert.deepEqual(planned({ restarts: 50, minutes: 5 }, { lasting: [half, half] }), [10, 10]);
    assert.deepEqual(planned({ restarts: 50, minutes: 5 }, { lasting: [half, half * 3] }), [10, 5]);
    assert.deepEqual(planned({ restarts: 50 }, { lasting: [half], until: 3 * minute }), [6]);
  });

  test('are no more than the plan asks for', () => {
    assert.deepEqual(planned({ restarts: 6, minutes: 5 }, { lasting: [half] }), [6]);
    assert.deepEqual(planned({ restarts: 6 }, { lasting: [9 * minute] }), [6]);
    assert.deepEqual(planned({ restarts: 2, minutes: 1 }, { lasting: [9 * minute] }), [2]);
  });

  test('are four at least, and never fewer than were made', () => {
    const lasting = [2 * minute, minute, minute, minute, minute];
    assert.deepEqual(planned({ restarts: 50, minutes: 1 }, { lasting }), [4, 4, 4, 4, 5]);
  });

  test('may be one, where the time was chosen', () => {
    const chosen = { lasting: [2 * minute], until: minute, minRestarts: 1 };
    assert.deepEqual(planned({ restarts: 12 }, chosen), [1]);
  });

  test('are all of them where they take no time at all', () => {
    assert.deepEqual(planned({ restarts: 50, minutes: 1 }, { lasting: [0] }), [50]);
  });
});
