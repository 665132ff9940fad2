import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { poolErrorDocs } from '../../src/pool/errors.ts';

test('the guide lists every error code of the pool with the meaning the code has', () => {
  const guide = readFileSync(
    new URL('../../../../docs/guide/process-pool.md', import.meta.url),
    'utf8',
  );
  const rows = [...guide.matchAll(/^\| `(ERR_\w+)` \| (.+) \|$/gm)].map(([, code, text]) => [
    code,
    text,
  ]);
  assert.deepEqual(Object.fromEntries(rows), poolErrorDocs);
});
