// The outbox and the inbox in transactions of mysql2 and what is built on it, on a real MariaDB.
import assert from 'node:assert/strict';
import { after, before, describe, it, test } from 'node:test';
import { startMariadb } from '@redline/services';
import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/mysql2';
import knex from 'knex';
import { createPool as createCallbackPool } from 'mysql2';
import { createConnection, createPool, type PoolConnection } from 'mysql2/promise';
import { Sequelize } from 'sequelize';
import { DataSource } from 'typeorm';
import { mariadbInbox } from '../../src/mariadb/mariadb-inbox.ts';
import { mariadbOutbox } from '../../src/sinks/mariadb-outbox.ts';
import { handlers } from '../../src/sinks/handlers.ts';
import { delivery } from '../../src/testing/deliveries.ts';
import { until } from '@redline/services/until';

import { job, testTransactions, type Database, type Transactions } from './contract.ts';
import { testInbox } from './inbox-contract.ts';

const { server, missing } = await startMariadb();
const uri = server?.url ?? 'mysql://root@127.0.0.1:1/none';
const pool = createPool({ uri, connectionLimit: 8 });
const callbacks = createCallbackPool({ uri, connectionLimit: 4 });
const database = knex({ client: 'mysql2', connection: uri, pool: { min: 0, max: 4 } });
const sequelize = new Sequelize(uri, { logging: false, pool: { max: 4 } });
const dataSource = new DataSource({ type: 'mariadb', url: uri, poolSize: 4 });
after(async () => {
  await pool.end();
  await server?.stop();
});

const libraries: Readonly<Record<string, () => Transactions>> = {
  mysql2: () => ({
    others: [pool, {}],
    async run(work) {
      const own = await pool.getConnection();
      try {
        await own.beginTransaction();
        await work(own, (text) => own.query(text));
        await own.commit();
      } catch (error) {
        await own.rollback();
        throw error;
      } finally {
        own.release();
      }
    },
  }),
  'mysql2 with callbacks': () => ({
    others: [callbacks],
    async run(work) {
      const own = await callbacks.promise().getConnection();
      try {
        await own.query('begin');
        await work(own.connection, (text) => own.query(text));
        await own.query('commit');
      } catch (error) {
        await own.query('rollback');
        throw error;
      } finally {
        own.release();
      }
    },
  }),
  Knex: () => ({
    others: [database],
    run: (work) =>
      database.transaction(async (trx) => void (await work(trx, async (text) => trx.raw(text)))),
  }),
  Drizzle: () => {
    const db = drizzle(pool);
    return {
      others: [db],
      run: (work) =>
        db.transaction(async (tx) => void (await work(tx, (text) => tx.execute(sql.raw(text))))),
    };
  },
  TypeORM: () => ({
    others: [dataSource, dataSource.manager],
    run: (work) =>
      dataSource.transaction(
        async (manager) => void (await work(manager, (text) => manager.query(text))),
      ),
  }),
  Sequelize: () => ({
    others: [sequelize],
    run: (work) =>
      sequelize.transaction(
        async (transaction) =>
          void (await work(transaction, (text) => sequelize.query(text, { transaction }))),
      ),
  }),
};

const quoted = (table: string): string => `\`${table}\``;
const on: Database = {
  outbox: (table) => mariadbOutbox({ pool, table }),
  inbox: (table) => mariadbInbox({ pool, table }),
  run: (text) => pool.query(text),
  quoted,
  async rows(table) {
    const text = `select * from ${quoted(table)} where sent_at_ms is null order by position`;
    const [rows] = await pool.query(text);
    return rows as Record<string, unknown>[];
  },
};

describe('on MariaDB', { skip: missing ?? false }, () => {
  before(() => dataSource.initialize());
  // One whose server was killed may not end.
  after(() =>
    Promise.all([
      dataSource.destroy(),
      callbacks.promise().end(),
      database.destroy(),
      sequelize.close(),
    ]),
  );
  for (const [name, open] of Object.entries(libraries)) {
    describe(`a transaction of ${name}`, () => testTransactions(on, open));
  }
});

describe('level outbox on MariaDB', { skip: missing ?? false }, () => {
  it('refuses a connection outside of a transaction, and writes nothing', async () => {
    const table = 'outside';
    const outbox = mariadbOutbox({ pool, table });
    await libraries['mysql2']!().run((transaction) => outbox.enqueue(transaction, job()));
    const own = await createConnection(uri);
    await assert.rejects(outbox.enqueue(own, job()), { code: 'ERR_REDLINE_DEFER_LEVEL' });
    await own.end();
    assert.equal((await on.rows(table)).length, 1);
  });
});

describe('mariadbInbox', { skip: missing ?? false }, () => {
  before(() => pool.query('create table effects (what varchar(255))'));
  const insert = (connection: PoolConnection, what: string): Promise<unknown> =>
    connection.query('insert into effects values (?)', [what]);
  const count = async (what: string): Promise<number> => {
    const [rows] = await pool.query('select count(*) as n from effects where what = ?', [what]);
    return (rows as { n: number }[])[0]!.n;
  };
  testInbox({
    open: (table) => mariadbInbox({ pool, table }),
    insert,
    count,
    fail: (connection: PoolConnection) => connection.query('rollback'),
  });

  it('retries a job that was the victim of a deadlock and ignored its error', async () => {
    await pool.query('create table accounts (id int primary key, n int)');
    await pool.query('insert into accounts values (1, 0), (2, 0)');
    const other = await pool.getConnection();
    await other.beginTransaction();
    // The one with fewer changes is rolled back.
    for (let n = 0; n < 20; n++) await insert(other, 'other');
    await other.query('update accounts set n = 1 where id = 1');
    let isFirst = true;
    const inbox = mariadbInbox({ pool, table: 'deadlock' });
    const handler = inbox.once(async (_, connection) => {
      await insert(connection, 'once');
      if (!isFirst) return;
      isFirst = false;
      await connection.query('update accounts set n = 2 where id = 2');
      const waiting = other.query('update accounts set n = 1 where id = 2');
      await assert.rejects(connection.query('update accounts set n = 2 where id = 1'), {
        code: 'ER_LOCK_DEADLOCK',
      });
      await waiting;
      await insert(connection, 'once');
    });
    const sink = handlers({ 'send-mail': handler });
    const each = delivery();
    const run = async (): Promise<unknown> =>
      (await sink.send([each], AbortSignal.timeout(30_000)))?.[0];
    const failed = (await run()) as { kind: string; error: Error };
    assert.equal(failed.kind, 'retry');
    assert.match(failed.error.message, /deadlock whose error the handler ignored/);
    assert.equal(await count('once'), 0);
    await other.rollback();
    other.release();
    assert.equal(await run(), undefined);
    assert.equal(await count('once'), 1);
  });

  it('counts no attempt while the database is away, and goes on when it is back', async () => {
    const between = Promise.withResolvers<void>();
    const entered = Promise.withResolvers<void>();
    let isFirst = true;
    const handler = mariadbInbox({ pool, table: 'away' }).once(async (_, connection) => {
      await insert(connection, 'away');
      if (!isFirst) return;
      isFirst = false;
      entered.resolve();
      await between.promise;
    });
    const sink = handlers({ 'send-mail': handler });
    const each = delivery();
    const run = async (): Promise<{ kind: string; isUntried?: boolean } | undefined> =>
      (await sink.send([each], AbortSignal.timeout(30_000)))?.[0];
    const cutOff = run();
    await entered.promise;
    await server!.kill();
    between.resolve();
    for (const result of [await cutOff, await run()]) {
      assert.ok(result?.kind === 'retry' && result.isUntried === true, JSON.stringify(result));
    }
    await server!.restart();
    await until('the job', async () => (await run()) === undefined);
    assert.equal(await count('away'), 1);
  });
});

test('mariadbInbox counts no attempt on a server whose disk is full', async () => {
  const full = Object.assign(new Error('The table is full'), { errno: 1114, sqlState: 'HY000' });
  const connection = {
    query: async (text: string) => {
      if (text.startsWith('insert')) throw full;
    },
    execute: async () => {},
    release: () => {},
    destroy: () => {},
  };
  const inbox = mariadbInbox({
    pool: { query: async () => {}, getConnection: async () => connection },
  });
  const sink = handlers({ 'send-mail': inbox.once(() => {}) });
  const [result] = (await sink.send([delivery()], AbortSignal.timeout(30_000))) ?? [];
  assert.ok(result?.kind === 'retry' && result.isUntried === true, JSON.stringify(result));
});
