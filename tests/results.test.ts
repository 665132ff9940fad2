// Results are committed whenever a figure is renewed: a diff has to show what changed, line by line.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { formatResult } from '@redline/lab';

const root = join(import.meta.dirname, '..');
const files = globSync('benchmarks/results/**/*.json', { cwd: root });
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

describe('results of benchmarks', () => {
  for (const file of files)
    test(`${file} is as its command writes it, and complete`, () => {
      const text = textOf(file);
      assert.doesNotMatch(text, /^  "unfinished": /m, 'the same command with --continue');
      const isFormatted = text === formatResult(JSON.parse(text) as object);
      assert.ok(isFormatted, `node benchmarks/write-result.ts ${file}`);
    });

  test('have fewer than 4,000 lines together', () => {
    const lines = files.reduce((sum, file) => sum + textOf(file).split('\n').length - 1, 0);
    assert.ok(files.length > 0 && lines < 4_000, `${lines} lines`);
  });
});
