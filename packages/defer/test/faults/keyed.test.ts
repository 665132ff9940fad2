import { test } from 'node:test';
import { killedWithin } from './keyed-trials.ts';

// keyed.slow.test.ts has every call and moment.
const moments = ['within', 'behind', 'before'] as const;

for (const level of ['process', 'disk'] as const) {
  test(`a process that is killed while it replaces and cancels a job leaves one or none of it, at level ${level}`, async (t) => {
    for (let call = 4; ; call += 7) {
      const trial = { level, crash: { call, moment: moments[call % 3]! } };
      if (!(await killedWithin(t, trial))) break;
    }
  });
}
