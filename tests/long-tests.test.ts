import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..');

test('tests that start first are files of this repository, each named once', () => {
  const lines = readFileSync(join(root, 'scripts/long-tests.txt'), 'utf8').trim().split('\n');
  const files = lines.filter((line) => !line.startsWith('#'));
  assert.ok(files.length > 10);
  assert.deepEqual(
    files.filter((file) => !existsSync(join(root, file))),
    [],
  );
  assert.equal(new Set(files).size, files.length);
});
