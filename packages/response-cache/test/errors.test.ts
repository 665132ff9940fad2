import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { CacheError, cacheErrorDocs } from '../src/errors.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const rows = [...readme.matchAll(/^\| `(ERR_REDLINE_\w+)` \| (.+?) \|/gm)].map(([, code, text]) => [
  code,
  text,
]);

describe('The error codes', () => {
  it('are those of the README, each with its sentence', () => {
    assert.deepEqual(Object.fromEntries(rows), cacheErrorDocs);
  });

  it('stand on errors that keep their cause', () => {
    const cause = new Error('why');
    const error = new CacheError('ERR_REDLINE_CACHE_STORE_DOWN', 'what', { cause });
    assert.equal(error.code, 'ERR_REDLINE_CACHE_STORE_DOWN');
    assert.equal(error.name, 'CacheError');
    assert.equal(error.cause, cause);
    assert.ok(error instanceof Error);
  });
});
