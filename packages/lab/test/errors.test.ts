import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { labErrorDocs } from '../src/errors.ts';

test('the guide lists every error code with the meaning the code has', () => {
  const guide = readFileSync(new URL('../../../docs/guide/measuring.md', import.meta.url), 'utf8');
  const rows = [...guide.matchAll(/^\| `(ERR_\w+)` \| (.+) \|$/gm)].map(([, code, text]) => [
    code,
    text,
  ]);
  assert.deepEqual(Object.fromEntries(rows), labErrorDocs);
});
