// cspell:ignore pkey
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startMariadb, startPostgres } from '@redline/services';
import { type Database, openDatabase } from '../../src/calls-out/explain/database.ts';
import { explainMysql } from '../../src/calls-out/explain/mysql-plan.ts';
import { explainPostgres } from '../../src/calls-out/explain/postgres-plan.ts';
import { comparedColumns } from '../../src/calls-out/explain/plan-words.ts';
import { sqlFingerprint } from '../../src/calls-out/preload/sql-fingerprint.ts';

const [postgres, mariadb] = [await startPostgres(), await startMariadb()];
after(() => Promise.all([postgres.server?.stop(), mariadb.server?.stop()]));

async function withTables(
  url: string,
  many: string,
  use: (database: Database) => Promise<void>,
): Promise<void> {
  const database = await openDatabase(url, import.meta.dirname);
  try {
    await database.query('CREATE TABLE users (id int PRIMARY KEY, name varchar(40))');
    await database.query(
      'CREATE TABLE orders (id int PRIMARY KEY, user_id int, note varchar(40), total int)',
    );
    await database.query('CREATE INDEX orders_note ON orders (note)');
    await database.query(many);
    await use(database);
  } finally {
    await database.end();
  }
}

test(
  'PostgreSQL names a scan and the column without an index',
  { skip: postgres.missing ?? false },
  () =>
    withTables(
      postgres.server!.url,
      "INSERT INTO orders SELECT id, id % 100, 'note ' || id, id FROM generate_series(1, 20000) AS id; ANALYZE orders",
      async (database) => {
        const explain = async (sql: string): Promise<string> =>
          (await explainPostgres(database, sqlFingerprint(sql, 'PostgreSQL'))).text;
        assert.equal(
          await explain('SELECT * FROM orders o WHERE user_id = $1 AND total > 5'),
          'Seq Scan on orders, no index on user_id',
        );
        assert.equal(
          await explain('SELECT * FROM orders WHERE user_id IN ($1, $2)'),
          'Seq Scan on orders, no index on user_id',
        );
        assert.equal(
          await explain("SELECT * FROM orders WHERE note = 'a'"),
          'Index Scan by orders_note',
        );
        assert.equal(
          await explain('SELECT * FROM orders'),
          'Seq Scan on orders, about 20\u202f000 rows',
        );
        assert.equal(
          await explain(
            "SELECT * FROM orders WHERE user_id = -5 AND now() > now() - interval '5 day'",
          ),
          'Seq Scan on orders, no index on user_id',
        );
        assert.equal(
          await explain('SELECT id AS log$20240101 FROM orders WHERE user_id = $1'),
          'Seq Scan on orders, no index on user_id',
        );
        // Nothing runs.
        assert.match(await explain('DELETE FROM orders WHERE user_id = 3'), /^Seq Scan on orders/);
        assert.deepEqual(await database.query('SELECT count(*)::int AS rows FROM orders'), [
          { rows: 20_000 },
        ]);
        await assert.rejects(explainPostgres(database, 'SELECT * FROM missing'), /does not exist/);
        await assert.rejects(
          explainPostgres(database, 'SELECT $1 LIMIT NULL::point'),
          /must be type/,
        );
        assert.deepEqual(await database.query('SELECT name FROM pg_prepared_statements'), []);
        assert.equal(
          await explain('SELECT * FROM orders WHERE id = $1'),
          'Index Scan by orders_pkey',
        );
      },
    ),
);

test(
  'MariaDB names a scan and the column without an index',
  { skip: mariadb.missing ?? false },
  () =>
    withTables(
      mariadb.server!.url,
      "INSERT INTO orders SELECT seq, seq % 100, concat('note ', seq), seq FROM seq_1_to_20000",
      async (database) => {
        const explain = async (sql: string): Promise<string> =>
          (await explainMysql(database, sqlFingerprint(sql, 'MySQL'))).text;
        assert.equal(
          await explain('SELECT * FROM orders o WHERE o.user_id = ? LIMIT 5'),
          'full scan on orders, no index on user_id',
        );
        assert.equal(
          await explain("SELECT * FROM orders WHERE note = 'a'"),
          'by the index orders_note',
        );
        assert.match(
          await explain('SELECT * FROM orders'),
          /^full scan on orders, about [\d\u202f]+ rows$/,
        );
        assert.equal(
          await explain(
            "SELECT 1 AS `what?` FROM orders WHERE user_id = -5 AND now() > date'2020-01-01' - interval 5 day",
          ),
          'full scan on orders, no index on user_id',
        );
        const [limit] = await database.query('SELECT @@max_statement_time AS seconds');
        assert.equal(Number(limit!['seconds']), 5);
      },
    ),
);

test('a prepared statement goes before its transaction ends, as a pooler gives another connection then', async () => {
  for (const failing of ['PREPARE', 'EXPLAIN', undefined]) {
    const sent: string[] = [];
    const database: Database = {
      system: 'PostgreSQL',
      async query(sql) {
        const [word] = sql.split(' ', 1);
        sent.push(word!);
        if (word === failing) throw new Error('refused');
        return [{ 'QUERY PLAN': [{ Plan: { 'Node Type': 'Result' } }] }];
      },
      async end() {},
    };
    await explainPostgres(database, 'SELECT $1').catch(() => {});
    assert.deepEqual(sent.slice(-3), ['ROLLBACK', 'DEALLOCATE', 'ROLLBACK'], failing);
  }
});

test('a database that cannot be used is named, with the remedy and without its password', async () => {
  const open = (url: string): Promise<unknown> => openDatabase(url, import.meta.dirname);
  await assert.rejects(open('redis://127.0.0.1'), {
    code: 'ERR_REDLINE_OPTION',
    message: '--database takes postgres://… or mysql://…, not redis://….',
  });
  await assert.rejects(
    open('postgres://me:hunter2@127.0.0.1:1/x?password=hunter2'),
    (error: Error) => {
      assert.match(
        error.message,
        /^--database postgres:\/\/127\.0\.0\.1:1\/x: no connection .*Is the database running/,
      );
      assert.doesNotMatch(error.message, /hunter2/);
      return true;
    },
  );
  for (const value of [
    'me:hunter2@127.0.0.1/x',
    'hunter2',
    'postgres://me:1/hunter2@127.0.0.1/x',
    'postgres://me#hunter2@127.0.0.1/x',
    'postgres://me:hunter2?@127.0.0.1:1/x',
    'https:hunter2',
  ]) {
    await assert.rejects(open(value), (error: Error) => {
      assert.match(error.message, /^--database: the value is not a URL\. Give postgres:/);
      assert.doesNotMatch(error.message, /hunter2/);
      return true;
    });
  }
});

test('the columns of a condition', () => {
  assert.deepEqual(
    comparedColumns('((user_id = $1) AND ((name)::text = $2) AND (a.b >= 3) AND (x IS NULL))'),
    ['user_id', 'name'],
  );
  assert.deepEqual(comparedColumns('`redline`.`orders`.`user_id` = 1'), ['user_id']);
});
