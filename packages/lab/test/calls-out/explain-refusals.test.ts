// cspell:ignore dblink über
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { startMariadb, startPostgres } from '@redline/services';
import { unknownFunction, explainCalls } from '../../src/calls-out/explain/explain-calls.ts';
import { openDatabase } from '../../src/calls-out/explain/database.ts';
import type { CallGroup, CallsSummary } from '../../src/calls-out/result.ts';

const [postgres, mariadb] = [await startPostgres(), await startMariadb()];
after(() => Promise.all([postgres.server?.stop(), mariadb.server?.stop()]));

/** What a report says of the plan of each statement. */
async function explained(
  url: string,
  system: CallGroup['system'],
  texts: readonly string[],
): Promise<(string | undefined)[]> {
  const one = { value: 1, low: 1, high: 1 };
  const groups = texts.map((text): CallGroup => ({
    system,
    text,
    places: [],
    count: 1,
    order: 'one',
    distinct: 1,
    share: 1,
    failed: 0,
    waitMs: one,
    cpuMs: one,
  }));
  const caller = { name: '', place: '', count: 1, order: 'one', groups, waitMs: one, cpuMs: one };
  const calls = { callers: [caller] } as unknown as CallsSummary;
  assert.deepEqual(await explainCalls(calls, url, import.meta.dirname), []);
  return groups.map((group) => group.explained?.text);
}

describe('a statement that calls a function of its own', () => {
  const text = 'SELECT * FROM logs WHERE id = waiting()';
  const refusal = 'not explained: it calls waiting, which the planner may run';

  test('is not planned by PostgreSQL', { skip: postgres.missing ?? false }, async () => {
    const { url } = postgres.server!;
    const database = await openDatabase(url, import.meta.dirname);
    await database.query(
      `CREATE TABLE logs (id int);
       CREATE FUNCTION waiting() RETURNS int STABLE LANGUAGE sql AS 'SELECT pg_advisory_lock(7); SELECT 1'`,
    );
    await database.end();
    assert.deepEqual(await explained(url, 'PostgreSQL', [text]), [refusal]);
  });

  test('is not planned by MariaDB', { skip: mariadb.missing ?? false }, async () => {
    assert.deepEqual(await explained(mariadb.server!.url, 'MySQL', [text]), [refusal]);
  });

  test('is recognised by its name, and built-in functions are no reason', () => {
    const called: [sql: string, name: string | undefined][] = [
      ['SELECT pg_sleep ($1)', 'pg_sleep'],
      ['SELECT app.lower(name) FROM users', 'app.lower'],
      ['SELECT "lower"(name) FROM users', '"lower"'],
      ['SELECT * FROM users WHERE `f`(id) = ?', '`f`'],
      ['SELECT * FROM dblink($1) AS t(a int)', 'dblink'],
      ['SELECT über(name) FROM users', 'über'],
      ['SELECT count(*) FILTER (WHERE a IN (…)) FROM "f(x)" WHERE lower(b) = $1', undefined],
      ['WITH x AS (SELECT 1 FROM t WHERE (a = $1)) SELECT COUNT(*) FROM (SELECT 1) q', undefined],
      ['SELECT row_number() OVER (PARTITION BY a) FROM t JOIN u USING (id)', undefined],
      ['SELECT "t"."a" FROM "t" WHERE "t"."a" = ANY ($1) AND NOT (b)', undefined],
    ];
    for (const [sql, name] of called) assert.equal(unknownFunction(sql), name, sql);
  });
});

test('MariaDB explains only what reads', { skip: mariadb.missing ?? false }, async () => {
  const texts = ['UPDATE logs SET id = ?', 'DELETE FROM logs', 'SELECT ?'];
  assert.deepEqual(await explained(mariadb.server!.url, 'MySQL', texts), [
    undefined,
    undefined,
    'no table is scanned',
  ]);
});
