import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { treeStatesOf, type TreeState } from '../../src/trees/tree-state.ts';

interface Repository {
  root: string;
  write: (name: string, text: string) => void;
  state: (own?: string[]) => Promise<TreeState>;
}

/** A repository with a committed `app.js`, and `dist` ignored. */
function repositoryOf(t: TestContext): Repository {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'redline-test-')));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const write = (name: string, text: string): void => writeFileSync(join(root, name), text);
  initialise(root, write);
  const state = async (own: string[] = []): Promise<TreeState> =>
    (await treeStatesOf([root], { base: root, own }))[0]!;
  return { root, write, state };
}

function initialise(root: string, write: (name: string, text: string) => void): void {
  write('app.js', '1');
  write('.gitignore', 'dist\n');
  const git = (...args: string[]): void =>
    void execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@localhost', ...args], {
      cwd: root,
    });
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '-m', 'one');
}

describe('the state of a tree', () => {
  test('is another one after each edit, and the same again without it', async (t) => {
    const { root, write, state } = repositoryOf(t);
    const seen = [await state()];
    write('app.js', '2');
    seen.push(await state());
    write('app.js', '3');
    seen.push(await state());
    write('new.js', '1');
    seen.push(await state());
    write('new.js', '2');
    seen.push(await state());
    rmSync(join(root, 'new.js'));
    symlinkSync('app.js', join(root, 'new.js'));
    seen.push(await state());
    rmSync(join(root, 'app.js'));
    seen.push(await state());
    assert.equal(new Set(seen.map(({ changes }) => changes)).size, seen.length);
    assert.equal(new Set(seen.map(({ commit }) => commit)).size, 1);
    rmSync(join(root, 'new.js'));
    write('app.js', '1');
    assert.deepEqual(await state(), seen[0]);
  });

  test('excludes ignored files and the files that redline writes', async (t) => {
    const { root, write, state } = repositoryOf(t);
    const before = await state();
    write('dist', '1');
    mkdirSync(join(root, 'out'));
    write('out/result.json', '{}');
    write('r.json', '{}');
    assert.deepEqual(await state([join(root, 'out'), join(root, 'r.json')]), before);
  });

  test('includes a repository in the tree', async (t) => {
    const { root, write, state } = repositoryOf(t);
    mkdirSync(join(root, 'inner'));
    initialise(join(root, 'inner'), (name, text) => write(`inner/${name}`, text));
    const before = await state();
    write('inner/app.js', '2');
    assert.notDeepEqual(await state(), before);
  });

  test('is read once for each repository, and is empty outside', async (t) => {
    const { root } = repositoryOf(t);
    mkdirSync(join(root, 'shop'));
    const outside = mkdtempSync(join(tmpdir(), 'redline-test-'));
    t.after(() => rmSync(outside, { recursive: true, force: true }));
    const states = await treeStatesOf([join(root, 'shop'), root, outside], { base: root, own: [] });
    assert.equal(states.length, 2);
    assert.equal(states[0]!.folder, '.');
    assert.deepEqual([states[1]!.commit, states[1]!.changes], ['', '']);
  });
});
