import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

const root = join(import.meta.dirname, '..');
const code = /ERR_REDLINE_[A-Z]+(?:_[A-Z]+)*\b(?!_)/g;
/** Where a table of codes has a row for each: the code in its first cell, what it means in the next. */
const row = /^\|\s*`(ERR_REDLINE_[A-Z_]+)`\s*\|\s*(\S.*?)\s*\|/gm;

const sources = tracked('packages/*/src/**', 'packages/*/bin/**').filter((file) =>
  /\.[cm]?ts$/.test(file),
);
const thrown = new Set(sources.flatMap((file) => read(file).match(code) ?? []));
const documented = new Map(
  tracked('packages/*/README.md', 'docs/guide/*.md').flatMap((file) =>
    [...read(file).matchAll(row)].map(([, name, meaning]) => [name!, meaning!] as const),
  ),
);

describe('error codes:', () => {
  test('each has its row in a README or a guide', () => {
    assert.ok(thrown.size > 40, `only ${thrown.size} codes were found in the sources`);
    assert.deepEqual(
      [...thrown].filter((each) => !documented.has(each)),
      [],
    );
  });

  test('no row is about a code that nothing throws', () => {
    assert.deepEqual(
      [...documented.keys()].filter((each) => !thrown.has(each)),
      [],
    );
  });
});

function tracked(...paths: string[]): string[] {
  return execFileSync('git', ['ls-files', ...paths], { cwd: root, encoding: 'utf8' })
    .trim()
    .split('\n');
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}
