// cspell:disable
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type SqlDialect, sqlFingerprint } from '../../src/calls-out/preload/sql-fingerprint.ts';

const secret = 'hunter';

function same(dialect: SqlDialect, cases: readonly [sql: string, fingerprint: string][]): void {
  for (const [sql, fingerprint] of cases) {
    assert.equal(sqlFingerprint(sql, dialect), fingerprint, sql);
    assert.doesNotMatch(sqlFingerprint(sql, dialect), new RegExp(secret));
  }
}

describe('the fingerprint of a statement', () => {
  test('has no literal, whatever its quotes', () => {
    same('PostgreSQL', [
      [`SELECT 'hunter'`, 'SELECT $1'],
      [`SELECT 'it''s hunter', E'it\\'s hunter', 3.5e-2, -7`, 'SELECT $1, $2, $3, -$4'],
      ['SELECT $$hunter$$, $a$hunter $$ hunter$a$', 'SELECT $1, $2'],
      [`SELECT U&'hunter', X'1F', B'01', 0xFF, 1_000`, 'SELECT $1, $2, $3, $4, $5'],
      [`SELECT 'hunter`, 'SELECT $1'],
      [`SELECT 'a\\', 'hunter'`, 'SELECT $1, $2'],
      ['SELECT "order"."userId" FROM "order"', 'SELECT "order"."userId" FROM "order"'],
    ]);
    same('MySQL', [
      [`SELECT 'it''s hunter', "hunter", _utf8'hunter', N'hunter'`, 'SELECT ?, ?, ?, ?'],
      ['SELECT `user` FROM t WHERE a = "x""hunter"', 'SELECT `user` FROM t WHERE a = ?'],
      ['SELECT @@sql_mode, @hunter', 'SELECT @@sql_mode, ?'],
    ]);
    same('SQLite', [
      [
        'SELECT "id" FROM t WHERE a = :hunter AND b = ?1',
        'SELECT "id" FROM t WHERE a = ? AND b = ?',
      ],
    ]);
  });

  test('has no literal of a form that few use', () => {
    same('PostgreSQL', [
      ['SELECT $ä$hunter$ä$, 1', 'SELECT $1, $2'],
      ["SELECT E'a'\n  'b\\' hunter', 1", 'SELECT $1, $2'],
      ["SELECT E'a' -- and\n'b\\' hunter', 1", 'SELECT $1, $2'],
      [`SELECT E'a' ${'-- and '.repeat(50)}`, 'SELECT $1'],
      ['SELECT 0b1011, 0o777, 0xDEAD_BEEF, 1_0.000_5, .5e+3', 'SELECT $1, $2, $3, $4, $5'],
      ['SELECT a FROM t WHERE b = "hunter', 'SELECT a FROM t WHERE b = $1'],
    ]);
    same('MySQL', [
      [
        "SELECT * FROM t WHERE b=10--5 AND note='line1\nhunter text'",
        'SELECT * FROM t WHERE b=?--? AND note=?',
      ],
      ["SELECT 'a\\\\', \"it's\", `a` -- hunter\n, 1", 'SELECT ?, ?, `a` , ?'],
      ['SELECT a FROM t WHERE b = `hunter', 'SELECT a FROM t WHERE b = ?'],
    ]);
    same('SQLite', [
      ["SELECT [it's] FROM t WHERE a = 'hunter'", "SELECT [it's] FROM t WHERE a = ?"],
      ['SELECT 1 FROM [hunter', 'SELECT ? FROM ?'],
    ]);
  });

  test('ends at a quote that may be the last of its literal', () => {
    same('MySQL', [
      ["SELECT * FROM t WHERE n='C:\\' AND x='hunter'", 'SELECT * FROM t WHERE n=?…'],
      [`SELECT _utf8 "it\\"s hunter" FROM t`, 'SELECT ?…'],
      [`SELECT 'it\\"s hunter' FROM t`, 'SELECT ? FROM t'],
    ]);
  });

  test('has no comments, and spaces once', () => {
    same('PostgreSQL', [
      ['SELECT 1 -- hunter\n  FROM t', 'SELECT $1 FROM t'],
      ["/* hunter */ SELECT /* it's hunter */ 1;", 'SELECT $1'],
      ['SELECT a /* hunter', 'SELECT a'],
      ['/* a /* b */ hunter */ SELECT 1', 'SELECT $1'],
      ["SELECT 1 -- it's\r, 'hunter\n hunter'", 'SELECT $1 , $2'],
    ]);
    same('MySQL', [
      ['SELECT 1 # hunter\nFROM t', 'SELECT ? FROM t'],
      ["SELECT date'2020-01-01'", 'SELECT date ?'],
    ]);
  });

  test('is the same for lists of any length', () => {
    same('PostgreSQL', [
      [
        'SELECT * FROM t WHERE id IN ($1, $2, $3) AND b = $4',
        'SELECT * FROM t WHERE id IN (…) AND b = $1',
      ],
      ["SELECT * FROM t WHERE id IN ('hunter')", 'SELECT * FROM t WHERE id IN (…)'],
      ['SELECT * FROM t WHERE (a, b) IN ((1, 2), (3, 4))', 'SELECT * FROM t WHERE (a, b) IN (…)'],
      ['INSERT INTO t (a, b) VALUES ($1, $2), ($3, DEFAULT)', 'INSERT INTO t (a, b) VALUES (…)'],
      ['SELECT * FROM t WHERE id IN (SELECT 1)', 'SELECT * FROM t WHERE id IN (SELECT $1)'],
    ]);
  });

  test('numbers parameters in their order, and keeps operators', () => {
    same('PostgreSQL', [
      ['SELECT $2, $1, $2, 5', 'SELECT $1, $2, $1, $3'],
      [
        `SELECT data ? 'hunter', data ->> 'hunter', a::int FROM t`,
        'SELECT data ? $1, data ->> $2, a::int FROM t',
      ],
      ['SELECT orders_2024.id, a1 FROM orders_2024', 'SELECT orders_2024.id, a1 FROM orders_2024'],
    ]);
  });
});
