import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Difference } from './confirm.ts';
import { generate, type Program } from './program.ts';
import { shrink } from './shrink.ts';

const program = [...Array(1000).keys()]
  .map(generate)
  .find(({ children }) => children.length === 3 && children.some(isGuilty))!;

function isGuilty({ script }: Program['children'][number]): boolean {
  return script.includes('cat') && script.length > 1;
}

function differing(of: Program): Difference {
  return { program: of, found: [], node: [], redline: [] };
}

describe('a program that differs', () => {
  test('is made as small as it can be', async () => {
    const { program: least } = await shrink(differing(program), {
      check: async (less) =>
        less.children.some(({ script }) => script.includes('cat')) ? differing(less) : 'same',
      isLate: () => false,
    });
    const [child, ...others] = least.children;
    assert.deepEqual(others, []);
    assert.deepEqual([child!.script, child!.actions, child!.options], [['cat'], [], {}]);
  });

  test('is as small as it has become when it is late, and each step is shown', async () => {
    const steps: Difference[] = [];
    const least = await shrink(differing(program), {
      check: async (less) => differing(less),
      isLate: () => steps.length === 2,
      onSmaller: (step) => steps.push(step),
    });
    assert.equal(steps.length, 2);
    assert.equal(least, steps[1]);
  });
});
