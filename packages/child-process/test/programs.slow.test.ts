import assert from 'node:assert/strict';
import { test } from 'node:test';
import { behaviourNames } from './behaviour/compare.ts';
import { comparePrograms } from './behaviour/compare-programs.ts';
import { exhaustive } from './behaviour/exhaustive.ts';
import { programs } from './behaviour/programs.ts';

comparePrograms('exhaustive');

test('what is left to the slow files exists', () => {
  const names = new Set([...behaviourNames, ...Object.keys(programs)]);
  assert.deepEqual(
    [...exhaustive].filter((name) => !names.has(name)),
    [],
  );
});
