import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withRegExps } from '../../src/flame/with-reg-exps.ts';
import { addSample, type CallTree, emptyTree, finishTree } from '../../src/profile/call-tree.ts';
import { functionsOf } from '../../src/profile/functions.ts';

type Stack = readonly [count: number, ...names: string[]];

/** Builds a tree: a name with a colon is an expression's, any other a function's of one file. */
function treeOf(...stacks: readonly Stack[]): CallTree {
  const tree = emptyTree(1);
  for (const [count, ...names] of stacks) {
    const steps = names.map((name) => {
      const isBuiltin = name.includes(':');
      const frame = isBuiltin
        ? { name, url: '', line: 0, column: 0, owner: 'v8' as const }
        : { name, url: '/app.js', line: name.length, column: 1, owner: 'app' as const };
      return { frame, tier: isBuiltin ? undefined : ('turbofan' as const) };
    });
    for (let i = 0; i < count; i++) addSample(tree, steps);
  }
  return finishTree(tree);
}

const own = (tree: CallTree): Record<string, number> =>
  Object.fromEntries(functionsOf(tree).map(({ frame, self }) => [frame.name, self]));

test('the own time of a function is split between it and its regular expressions', () => {
  const tree = treeOf([100, 'handle', 'check'], [20, 'check'], [10, 'other']);
  const named = treeOf([5, 'check'], [30, 'check', 'RegExp: a+'], [15, 'check', 'RegExp: b']);
  const split = withRegExps(tree, named);
  assert.deepEqual(own(split), {
    'RegExp: a+': 72,
    'RegExp: b': 36,
    check: 12,
    other: 10,
    handle: 0,
  });
  assert.equal(split.samples, 130);
  const check = functionsOf(split).find(({ frame }) => frame.name === 'check')!;
  assert.deepEqual([check.total, check.selfTiers], [120, { turbofan: 12 }]);
});

test('an expression compiled while the first profile ran keeps its samples', () => {
  const tree = treeOf([40, 'check'], [60, 'check', 'RegExp: a+']);
  const named = treeOf([10, 'check'], [90, 'check', 'RegExp: a+']);
  assert.deepEqual(own(withRegExps(tree, named)), { 'RegExp: a+': 90, check: 10 });
});

test('a time spread over many callers loses nothing to rounding', () => {
  const callers = Array.from({ length: 30 }, (_, index) => 'f'.repeat(index + 6));
  const tree = treeOf(...callers.map((name): Stack => [1, name, 'check']));
  const named = treeOf([1, 'check'], [9, 'check', 'RegExp: a+']);
  assert.deepEqual([own(withRegExps(tree, named))['RegExp: a+']], [27]);
});
