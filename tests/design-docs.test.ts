import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

const root = join(import.meta.dirname, '..');
const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' })
  .trim()
  .split('\n');
const built = ['dist', 'dist-test', 'node_modules', 'target', 'redline-out'];
const folders = new Set([...built, ...tracked.flatMap((file) => parentsOf(file))]);

const pages = readdirSync(join(root, 'docs/design')).map((name) => `docs/design/${name}`);

describe('a page of docs/design names only what is there:', () => {
  for (const page of ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'TENETS.md', ...pages]) {
    test(page, () => {
      const text = readFileSync(join(root, page), 'utf8');
      assert.deepEqual(missingIn(text), []);
    });
  }
});

/** Their unsafe code fills values on their own stack, or has a comment of its own that says who else is there. */
const NO_ROW = new Set(
  ['child', 'measure', 'procfs', 'reaper', 'run', 'tree'].map(
    (name) => `spawn_engine/src/${name}.rs`,
  ),
);

test('every file of the crates with unsafe code says what else may touch it meanwhile', () => {
  const text = readFileSync(join(root, 'docs/design/unsafe-code.md'), 'utf8');
  const rows = [...text.matchAll(/^\| `([\w/]+\.rs)` \|/gm)].map((match) => match[1]!);
  const files = tracked
    .filter((file) => /^crates\/\w+\/src\/.*\.rs$/.test(file))
    .filter((file) => /\bunsafe\b/.test(readFileSync(join(root, file), 'utf8')))
    .map((file) => file.slice('crates/'.length));
  const missing = files.filter((file) => !rows.includes(file) && !NO_ROW.has(file));
  assert.deepEqual(missing, []);
  assert.deepEqual(
    rows.filter((row) => !files.includes(row)),
    [],
  );
});

test('a file that moved is noticed', () => {
  const text = 'In `src/moved-away.ts`, below `packages/lab/`, runs `npm test`; see `nowhere/`.';
  assert.deepEqual(missingIn(text), ['src/moved-away.ts', 'nowhere/']);
});

test('every package has its page: why it is built as it is', () => {
  const index = readFileSync(join(root, 'docs/design/README.md'), 'utf8');
  for (const name of readdirSync(join(root, 'packages')))
    assert.match(index, new RegExp(`^\\| \`${name}\` \\| \\[`, 'm'), name);
  for (const page of pages.filter((each) => !each.endsWith('README.md')))
    assert.ok(index.includes(`](${page.slice('docs/design/'.length)})`), `${page} is not listed`);
});

/** Files and folders in backquotes that no tracked file, or folder of one, ends with. */
function missingIn(text: string): string[] {
  const quoted = [...text.matchAll(/`([\w./@-]+)`/g)].map((match) => match[1]!);
  const isFile = (name: string): boolean =>
    /\.(?:[cm]?[jt]s|rs|json|md|sh|toml)$/.test(name) && !/^\.|[A-Z]\w*\.js$/.test(name);
  const missing = quoted.filter((name) => {
    if (name.endsWith('/')) return !isThere(folders, name.slice(0, -1));
    return isFile(name) && !isThere(tracked, name);
  });
  return [...new Set(missing)];
}

function isThere(all: Iterable<string>, name: string): boolean {
  for (const each of all) if (each === name || each.endsWith(`/${name}`)) return true;
  return false;
}

function parentsOf(file: string): string[] {
  const parts = file.split('/').slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
}
