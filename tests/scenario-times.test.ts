import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scenarioTimes } from '../benchmarks/scenario-times.ts';

test('--quick of every scenario takes less than three minutes on two cores', async (t) => {
  for (const times of await scenarioTimes(2)) {
    // It compares with what could not be obtained here.
    if ('missing' in times) t.diagnostic(`${times.name} was not loaded: ${times.missing}`);
    else assert.ok(times.quick.seconds <= 170, `${times.name}: ${times.quick.seconds} s`);
  }
});
