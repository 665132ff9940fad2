import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { findAppFolder } from '../../../src/try/docker/app-folder.ts';
import { installationOf } from '../../../src/try/docker/installation.ts';

function folderWith(t: TestContext, files: Record<string, string>): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'redline-app-')));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

describe('the packages of an app are installed in a container', () => {
  const named = (packageManager: string): string => JSON.stringify({ packageManager });
  const cases: [
    lock: string,
    text: string,
    json: string,
    tool: string | undefined,
    start: string,
  ][] = [
    ['package-lock.json', '{}', '{}', undefined, 'npm ci --include=dev'],
    ['npm-shrinkwrap.json', '{}', '{}', undefined, 'npm ci --include=dev'],
    ['pnpm-lock.yaml', "lockfileVersion: '9.0'\n", '{}', 'pnpm@10', 'pnpm install --frozen'],
    ['pnpm-lock.yaml', "lockfileVersion: '6.0'\n", '{}', 'pnpm@8', 'pnpm install --frozen'],
    ['pnpm-lock.yaml', 'lockfileVersion: 5.4\n', '{}', 'pnpm@7', 'pnpm install --frozen'],
    ['pnpm-lock.yaml', '', named('pnpm@9.1.2+sha512.ab'), 'pnpm@9.1.2', 'pnpm install --frozen'],
    ['yarn.lock', '# yarn lockfile v1\n', '{}', 'yarn@1', 'yarn install --frozen-lockfile'],
    ['yarn.lock', '__metadata:\n', '{}', '@yarnpkg/cli-dist@4', 'yarn install --immutable'],
    ['yarn.lock', '', named('yarn@3.6.1'), '@yarnpkg/cli-dist@3.6.1', 'yarn install --immutable'],
    ['yarn.lock', '', named('yarn@1.22.22'), 'yarn@1.22.22', 'yarn install --frozen-lockfile'],
    ['yarn.lock', '', named('pnpm@9.0.0'), 'yarn@1', 'yarn install --frozen-lockfile'],
    ['bun.lock', '{}', '{}', 'bun@1', 'bun install --frozen-lockfile'],
    ['bun.lockb', '\0', named('bun@1.2.3'), 'bun@1.2.3', 'bun install --frozen-lockfile'],
  ];
  for (const [lock, text, json, tool, start] of cases) {
    test(`by ${lock}: ${tool ?? 'npm'}, package.json ${json}, lock ${text.trim()}`, (t) => {
      const app = findAppFolder(folderWith(t, { [lock]: text, 'package.json': json }));
      const found = installationOf(app)!;
      assert.equal(found.tool, tool);
      assert.ok(found.command.startsWith(start), found.command);
      assert.deepEqual(app.unknownLocks, []);
    });
  }

  test('by npm in the newest versions without a lock file that is known, which is named', (t) => {
    const app = findAppFolder(
      folderWith(t, { 'package.json': '{}', 'deno.lock': '', 'vlt-lock.json': '', 'clock.js': '' }),
    );
    assert.deepEqual(app.unknownLocks.toSorted(), ['deno.lock', 'vlt-lock.json']);
    assert.match(installationOf(app)!.command, /^npm install /);
  });

  test('not at all without a package.json', (t) => {
    const app = findAppFolder(folderWith(t, { 'server.js': '', 'poetry.lock': '' }));
    assert.equal(installationOf(app), undefined);
    assert.deepEqual(app.unknownLocks, []);
  });
});

describe('the folder that is copied into a container', () => {
  test('is the root of the monorepo that has the lock file', (t) => {
    const folder = folderWith(t, {
      'package.json': '{"workspaces":["apps/*"]}',
      'yarn.lock': '',
      'apps/web/package.json': '{}',
      'apps/web/dist/app.js': '',
    });
    const { root, below, manager } = findAppFolder(join(folder, 'apps/web/dist'));
    assert.deepEqual([root, below, manager], [folder, 'apps/web/dist', 'yarn']);
  });

  test('is that of the nearest package.json, whatever lock files lie above it', (t) => {
    const folder = folderWith(t, {
      'package.json': '{}',
      'package-lock.json': '{}',
      'app/package.json': '{}',
      'app/src/server.js': '',
      'other/pnpm-lock.yaml': '',
      'other/pnpm-workspace.yaml': '',
    });
    const { root, below, lock } = findAppFolder(join(folder, 'app/src'));
    assert.deepEqual([root, below, lock], [join(folder, 'app'), 'src', undefined]);
    assert.equal(findAppFolder(join(folder, 'other')).root, join(folder, 'other'));
  });

  test('stays in the repository, and is never a home folder above it', (t) => {
    const folder = folderWith(t, {
      'package.json': '{"workspaces":[]}',
      'package-lock.json': '{}',
      'repo/.git/HEAD': '',
      'repo/server.js': '',
      'plain/server.js': '',
    });
    assert.equal(findAppFolder(join(folder, 'repo')).root, join(folder, 'repo'));
    const home = process.env['HOME'];
    t.after(() => void (process.env['HOME'] = home));
    process.env['HOME'] = folder;
    assert.equal(findAppFolder(join(folder, 'plain')).root, join(folder, 'plain'));
  });

  test('is neither a home folder nor the root of the machine', (t) => {
    const folder = folderWith(t, { 'package.json': '{}', 'package-lock.json': '{}' });
    const home = process.env['HOME'];
    t.after(() => void (process.env['HOME'] = home));
    process.env['HOME'] = folder;
    for (const each of [folder, '/']) {
      assert.throws(() => findAppFolder(each), {
        code: 'ERR_REDLINE_OPTION',
        message:
          /--docker copies the whole folder of an app, and .* is (your home folder|the root)/,
      });
    }
  });

  test('is the one that a link leads to', (t) => {
    const folder = folderWith(t, { 'app/package.json': '{}', 'app/package-lock.json': '{}' });
    symlinkSync(join(folder, 'app'), join(folder, 'current'));
    assert.equal(findAppFolder(join(folder, 'current')).root, join(folder, 'app'));
  });
});
