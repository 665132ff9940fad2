import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { Trees } from '../../src/trees/trees.ts';

class Repository {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'redline-trees-test-'));

  constructor(context: TestContext) {
    context.after(() => rmSync(this.folder, { recursive: true, force: true }));
    this.#git('init');
    this.commit('first');
  }

  commit(text: string): void {
    writeFileSync(join(this.folder, 'app.js'), text);
    this.#git('add', '.');
    this.#git('commit', '-m', text);
  }

  trees(): Promise<Trees> {
    const { signal } = new AbortController();
    return Trees.prepare({ folder: this.folder, base: 'HEAD', build: 'none', signal, phase() {} });
  }

  #git(...args: string[]): void {
    const who = ['-c', 'user.name=a', '-c', 'user.email=a@b'];
    execFileSync('git', [...who, ...args], { cwd: this.folder, stdio: 'ignore' });
  }
}

describe('one more tree', () => {
  test('is of the commit of the others, whatever is committed meanwhile', async (t) => {
    const repository = new Repository(t);
    await using trees = await repository.trees();
    repository.commit('second');
    const tree = await trees.add('more', () => {});
    assert.equal(readFileSync(join(tree.path, 'app.js'), 'utf8'), 'first');
    assert.equal(readFileSync(join(trees.base.path, 'app.js'), 'utf8'), 'first');
  });

  test('that cannot be made leaves nothing behind, and can be made later', async (t) => {
    const repository = new Repository(t);
    await using trees = await repository.trees();
    const full = new Error('no space left');
    const refuse = (text: string): void => {
      if (text.startsWith('installing')) throw full;
    };
    await assert.rejects(trees.add('more', refuse), full);
    assert.equal(existsSync(join(dirname(trees.base.path), 'more')), false);
    const { path } = await trees.add('more', () => {});
    assert.equal(readFileSync(join(path, 'app.js'), 'utf8'), 'first');
  });
});
