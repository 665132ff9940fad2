// The outbox and the inbox in transactions of libraries, each on the real PostgreSQL.
import { after, describe } from 'node:test';
import { startPostgres } from '@redline/services';
import { sql } from 'drizzle-orm';
import { drizzle as drizzleOnPg } from 'drizzle-orm/node-postgres';
import { drizzle as drizzleOnPostgresJs } from 'drizzle-orm/postgres-js';
import knex from 'knex';
import { Client, Pool } from 'pg';
import postgres from 'postgres';
import { Sequelize } from 'sequelize';
import { DataSource } from 'typeorm';
import { postgresInbox } from '../../src/postgres/postgres-inbox.ts';
import { postgresOutbox } from '../../src/sinks/postgres-outbox.ts';
import { testTransactions, type Database, type Transactions } from './contract.ts';
import { prismaOn } from './prisma-client.ts';

const { server, missing } = await startPostgres();
const connectionString = server?.url ?? 'postgres://127.0.0.1:1/none';
const pool = new Pool({ connectionString, max: 8 });
const client = new Client({ connectionString });
const database = knex({ client: 'pg', connection: connectionString, pool: { min: 0, max: 4 } });
const js = postgres(connectionString, { max: 4, onnotice: () => {} });
const sequelize = new Sequelize(connectionString, { logging: false, pool: { max: 4 } });
const dataSource = new DataSource({ type: 'postgres', url: connectionString, poolSize: 4 });
const prisma = prismaOn(connectionString);
if (missing === undefined) await Promise.all([client.connect(), dataSource.initialize()]);
after(async () => {
  if (missing === undefined) await Promise.all([client.end(), dataSource.destroy()]);
  await Promise.all([
    pool.end(),
    database.destroy(),
    js.end(),
    sequelize.close(),
    prisma.$disconnect(),
  ]);
  await server?.stop();
});

const libraries: Readonly<Record<string, () => Transactions>> = {
  pg: () => ({
    others: [pool, client],
    async run(work) {
      const own = await pool.connect();
      try {
        await own.query('begin');
        await work(own, (text) => own.query(text));
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
  'Drizzle on pg': () => {
    const db = drizzleOnPg(pool);
    return {
      others: [db],
      run: (work) =>
        db.transaction(async (tx) => void (await work(tx, (text) => tx.execute(sql.raw(text))))),
    };
  },
  'Drizzle on postgres.js': () => {
    const db = drizzleOnPostgresJs(js);
    return {
      others: [db],
      run: (work) =>
        db.transaction(
          async (tx) => void (await work(tx, async (text) => tx.execute(sql.raw(text)))),
        ),
    };
  },
  'postgres.js': () => ({
    others: [js],
    async run(work) {
      await js.begin(async (tx) => void (await work(tx, async (text) => tx.unsafe(text))));
    },
  }),
  'TypeORM’s manager': () => ({
    others: [dataSource, dataSource.manager, dataSource.createQueryRunner()],
    run: (work) =>
      dataSource.transaction(
        async (manager) => void (await work(manager, (text) => manager.query(text))),
      ),
  }),
  'TypeORM’s query runner': () => ({
    others: [],
    async run(work) {
      const runner = dataSource.createQueryRunner();
      await runner.startTransaction();
      try {
        await work(runner, (text) => runner.query(text));
        await runner.commitTransaction();
      } catch (error) {
        await runner.rollbackTransaction();
        throw error;
      } finally {
        await runner.release();
      }
    },
  }),
  Sequelize: () => ({
    others: [sequelize],
    run: (work) =>
      sequelize.transaction(
        async (transaction) =>
          void (await work(transaction, (text) => sequelize.query(text, { transaction }))),
      ),
  }),
  Prisma: () => ({
    others: [prisma],
    async run(work) {
      await prisma.$transaction((tx) => work(tx, (text) => tx.$executeRawUnsafe(text)));
    },
  }),
};

const on: Database = {
  outbox: (table) => postgresOutbox({ pool, table }),
  inbox: (table) => postgresInbox({ pool, table }),
  run: (text) => pool.query(text),
  quoted: (table) => `"${table}"`,
  rows: async (table) => (await pool.query(`select * from "${table}" order by position`)).rows,
  async writers(table) {
    const { rows } = await pool.query(`select xmin::text as writer from "${table}"`);
    return rows.map(({ writer }) => writer as string);
  },
};

for (const [name, open] of Object.entries(libraries)) {
  describe(`a transaction of ${name}`, { skip: missing ?? false }, () =>
    testTransactions(on, open),
  );
}
