import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withParameters } from '../../src/calls-out/explain/postgres-plan.ts';

test('a fingerprint becomes a statement that PostgreSQL can prepare', () => {
  for (const [text, sql, values] of [
    ['SELECT a - $1, b FROM t', 'SELECT a - $1, b FROM t', 1],
    ['SELECT -$1, a - -$2 WHERE c=- $3', 'SELECT $1, a - $2 WHERE c=$3', 3],
    ['SELECT (a) -$1, data #- $2', 'SELECT (a) -$1, data #- $2', 2],
    ['SELECT now() - interval $1', 'SELECT now() - $1::interval', 1],
    ['SELECT a < timestamp with time zone $1', 'SELECT a < $1::timestamp with time zone', 1],
    [
      'SELECT log$20240101, "a $9 (…)", today_date',
      'SELECT log$20240101, "a $9 (…)", today_date',
      0,
    ],
    [
      'SELECT 1 WHERE a IN (…) AND b = $1 OR c IN (…)',
      'SELECT 1 WHERE a IN ($2) AND b = $1 OR c IN ($3)',
      3,
    ],
  ] as const) {
    assert.deepEqual(withParameters(text), { sql, values }, text);
  }
});
