import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Project } from '../../src/project/read-project.ts';
import { keepLines } from '../../src/try/keep.ts';
import type { Preload } from '../../src/try/packages.ts';

const http: Preload = {
  name: '@redline/http',
  version: '1.0.0',
  from: 'app',
  register: 'file:///register.js',
  index: 'file:///index.js',
};
const childProcess: Preload = { ...http, name: '@redline/child-process', from: 'redline' };

function project(scripts: Record<string, string>, manager: Project['manager'] = 'npm'): Project {
  return {
    folder: '/app',
    name: 'app',
    manager,
    framework: undefined,
    scripts,
    dependencies: new Set(),
    start: undefined,
    workspaces: [],
    hasConfig: false,
  };
}

describe('what to type to keep what redline try has measured', () => {
  const cases: [name: string, lines: string[], ...given: Parameters<typeof keepLines>][] = [
    [
      'a command of node',
      ['node --import @redline/http/register dist/main.js --port 1'],
      { command: ['node', 'dist/main.js', '--port', '1'], env: {} },
      undefined,
      [http],
    ],
    [
      'a path below the folder of the app, with what its environment was',
      ["A=1 B='x y' node --import @redline/http/register dist/main.js"],
      { command: ['/opt/node/bin/node', '/app/dist/main.js'], env: { A: '1', B: 'x y' } },
      project({}),
      [http],
    ],
    [
      'packages that are not installed, by the app’s own package manager',
      [
        'pnpm add @redline/child-process',
        'node --import @redline/http/register --import @redline/child-process/register a.js',
      ],
      { command: ['node', 'a.js'], env: {} },
      project({}, 'pnpm'),
      [http, childProcess],
    ],
    [
      'a script that starts node, wherever it does',
      [
        'package.json: "start:prod": "cross-env NODE_ENV=production node --import @redline/http/register dist/main"',
      ],
      { command: ['npm', 'run', 'start:prod'], env: {} },
      project({ 'start:prod': 'cross-env NODE_ENV=production node dist/main' }),
      [http],
    ],
    [
      'a script that starts something else',
      ['NODE_OPTIONS="--import @redline/http/register" yarn start'],
      { command: ['yarn', 'start'], env: {} },
      project({ start: 'nest start' }),
      [http],
    ],
  ];
  for (const [name, lines, ...given] of cases) {
    test(name, () => assert.deepEqual(keepLines(...given), lines));
  }
});
