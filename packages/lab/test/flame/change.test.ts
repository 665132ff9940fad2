import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { changeKinds, changeTree, compareProfiles } from '../../src/flame/change.ts';
import type { FlameFunction, FlameNode, FlameResult } from '../../src/flame/result.ts';

/** One caller, `handle`, with the others below it; each takes as many samples itself as is said. */
function profile(file: string, own: Record<string, number>): FlameResult {
  const samples = Object.values(own).reduce((sum, count) => sum + count, 0);
  const functions: FlameFunction[] = Object.entries(own).map(([name, self], line) => ({
    name,
    place: `${file}:${line + 1}:1`,
    owner: 'app',
    self,
    total: name === 'handle' ? samples : self,
    tiers: {},
  }));
  const root = {
    name: '(all)',
    place: '',
    owner: 'v8',
    self: 0,
    total: samples,
    tiers: {},
  } as const;
  const tree = Object.entries(own).map(([name, self], index): FlameNode => {
    const isHandle = name === 'handle';
    return [isHandle ? 1 : 2, index + 1, isHandle ? samples : self, self, 0, 0, 0, 0];
  });
  return {
    samples,
    functions: [root, ...functions],
    tree: [[0, 0, samples, 0, 0, 0, 0, 0], ...tree],
  } as FlameResult;
}

describe('two profiles', () => {
  test('are held against each other function by function, whatever lines were edited', () => {
    const before = profile('app.js', { handle: 100, select: 300, render: 600 });
    const after = profile('app.js', { handle: 100, render: 600, select: 300 });
    const { functions, unit } = compareProfiles(before, after);
    assert.equal(unit, 'share');
    assert.ok(functions.every((each) => each.before === each.after));
  });

  test('match a file that goes by another name, and no file that is another', () => {
    const before = profile('bundle-1a.js', { handle: 100, select: 300, render: 600 });
    const renamed = profile('bundle-2b.js', { handle: 100, select: 300, render: 600 });
    assert.equal(compareProfiles(before, renamed).functions.length, 3);
    const kinds = changeTree(before, renamed).map((node) => node[6]);
    assert.deepEqual(new Set(kinds), new Set([changeKinds.same]));

    const other = profile('other.js', { handle: 100, find: 300, write: 600 });
    assert.equal(compareProfiles(before, other).functions.length, 6);
  });
});
