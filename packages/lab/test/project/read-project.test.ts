import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { readProject } from '../../src/project/read-project.ts';

function folderOf(context: TestContext, files: Record<string, string | object>): string {
  const folder = mkdtempSync(join(tmpdir(), 'redline-project-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

describe('what a folder says of its app:', () => {
  test('framework, package manager and what production starts', (t) => {
    const folder = folderOf(t, {
      'package.json': {
        name: 'orders',
        scripts: { start: 'nest start', 'start:prod': 'node dist/main', test: 'jest' },
        dependencies: { '@nestjs/core': '12', '@nestjs/platform-fastify': '12', express: '5' },
      },
      'yarn.lock': '',
      'redline.config.mjs': '',
    });
    const project = readProject(folder)!;
    assert.equal(project.framework, 'Nest on Fastify');
    assert.equal(project.manager, 'yarn');
    assert.deepEqual(project.start, ['yarn', 'run', 'start:prod']);
    assert.ok(project.hasConfig);
  });

  test('no platform of Nest where both are installed', (t) => {
    const dependencies = (...platforms: string[]): Record<string, string> =>
      Object.fromEntries(['@nestjs/core', ...platforms].map((name) => [name, '12']));
    const frameworkOf = (...platforms: string[]): string | undefined =>
      readProject(folderOf(t, { 'package.json': { dependencies: dependencies(...platforms) } }))!
        .framework;
    const [express, fastify] = ['@nestjs/platform-express', '@nestjs/platform-fastify'];
    assert.equal(frameworkOf(express), 'Nest on Express');
    assert.equal(frameworkOf(express, fastify), 'Nest');
  });

  test('the main file where there is no script, if it exists', (t) => {
    const files = { 'package.json': { main: 'server.js' } };
    assert.equal(readProject(folderOf(t, files))!.start, undefined);
    const folder = folderOf(t, { ...files, 'server.js': '' });
    assert.deepEqual(readProject(folder)!.start, ['node', 'server.js']);
  });

  test('workspaces that start something, of npm and of pnpm', (t) => {
    const started = { scripts: { start: 'node .' } };
    const packages = {
      'apps/api/package.json': started,
      'apps/web/package.json': { scripts: { build: 'x' } },
      'apps/notes.txt': '',
      'tools/cli/package.json': started,
    };
    const npm = folderOf(t, {
      ...packages,
      'package.json': { workspaces: ['apps/*', 'tools/cli', 'gone/*'] },
    });
    assert.deepEqual(readProject(npm)!.workspaces, ['apps/api', 'tools/cli']);
    const pnpm = folderOf(t, {
      ...packages,
      'package.json': {},
      'pnpm-workspace.yaml': 'packages:\n  # all\n  - \'apps/*\'\n  - "!apps/web"\nother: 1\n',
      'pnpm-lock.yaml': '',
    });
    assert.deepEqual(readProject(pnpm)!.workspaces, ['apps/api']);
    assert.equal(readProject(join(pnpm, 'apps/api'))!.manager, 'pnpm');
  });

  test('nothing, where no package.json can be read', (t) => {
    assert.equal(readProject(folderOf(t, {})), undefined);
    assert.equal(readProject(folderOf(t, { 'package.json': '{' })), undefined);
  });
});
