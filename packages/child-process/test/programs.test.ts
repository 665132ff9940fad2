import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { programs, runProgram } from './behaviour/programs.ts';

const redline = join(import.meta.dirname, '../src/index.ts');

describe('as with node:child_process, a program:', { concurrency: 2, timeout: 120_000 }, () => {
  for (const [name, code] of Object.entries(programs)) {
    test(name, async () => {
      const [expected, actual] = await Promise.all([
        runProgram(code, 'node:child_process'),
        runProgram(code, redline),
      ]);
      assert.deepEqual(actual, expected);
    });
  }
});
