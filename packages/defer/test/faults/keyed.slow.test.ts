import { test } from 'node:test';
import { killedWithin } from './keyed-trials.ts';

// Other calls at the other moments: all of both take a minute and a half.
for (const [level, every] of [
  ['process', 2],
  ['disk', 3],
] as const) {
  for (const [at, moment] of (['before', 'within', 'behind'] as const).entries()) {
    test(`a process killed ${moment} a call to the file system leaves one job of a key or none, at level ${level}`, async (t) => {
      for (let call = 1 + (at % every); ; call += every) {
        if (!(await killedWithin(t, { level, crash: { call, moment } }))) break;
      }
    });
  }
}
