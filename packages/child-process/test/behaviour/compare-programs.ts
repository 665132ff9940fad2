import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { chosen } from './exhaustive.ts';
import { programs, runProgram } from './programs.ts';

const redline = join(import.meta.dirname, '../../src/index.ts');

export function comparePrograms(which: 'usual' | 'exhaustive'): void {
  describe('as with node:child_process, a program:', { concurrency: 2, timeout: 600_000 }, () => {
    for (const [name, code] of chosen(programs, which)) {
      test(name, async () => {
        const [expected, actual] = await Promise.all([
          runProgram(code, 'node:child_process'),
          runProgram(code, redline),
        ]);
        assert.deepEqual(actual, expected);
      });
    }
  });
}
