import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Candidate } from '../../src/doctor/examine.ts';
import { writeChanges } from '../../src/doctor/prove/prove-findings.ts';

test('writes all changes or none: what was written into one of the files meanwhile is kept', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'redline-fix-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const candidates = ['one.js', 'two.js'].map((name) => {
    const path = join(folder, name);
    writeFileSync(path, 'let a = 1;');
    const file = { path, name, text: 'let a = 1;' };
    return {
      edits: [{ file, start: 0, end: 3, text: 'const' }],
    } as Partial<Candidate> as Candidate;
  });
  const read = (): string[] =>
    ['one.js', 'two.js'].map((name) => readFileSync(join(folder, name), 'utf8'));
  writeFileSync(join(folder, 'two.js'), 'let a = 2;');
  assert.equal(writeChanges(candidates), 'two.js');
  assert.deepEqual(read(), ['let a = 1;', 'let a = 2;']);
  writeFileSync(join(folder, 'two.js'), 'let a = 1;');
  assert.equal(writeChanges(candidates), undefined);
  assert.deepEqual(read(), ['const a = 1;', 'const a = 1;']);
});
