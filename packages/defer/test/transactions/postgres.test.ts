// The outbox and the inbox in transactions of libraries, each on the real PostgreSQL.
import { after, describe } from 'node:test';
import { startPostgres } from '@redline/services';
import { sql } from 'drizzle-orm';
import { drizzle as drizzleOnPg } from 'drizzle-orm/node-postgres';
import { drizzle as drizzleOnPostgresJs } from 'drizzle-orm/postgres-js';
import knex from 'knex';
import { Client, Pool } from 'pg';
import postgres from 'postgres';
import { testTransactions, type Transactions } from './contract.ts';

const { server, missing } = await startPostgres();
const connectionString = server?.url ?? 'postgres://127.0.0.1:1/none';
const pool = new Pool({ connectionString, max: 8 });
const client = new Client({ connectionString });
const database = knex({ client: 'pg', connection: connectionString, pool: { min: 0, max: 4 } });
const js = postgres(connectionString, { max: 4, onnotice: () => {} });
if (missing === undefined) await client.connect();
after(async () => {
  await Promise.all([pool.end(), database.destroy(), js.end(), client.end().catch(() => {})]);
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
};

for (const [name, open] of Object.entries(libraries)) {
  describe(`a transaction of ${name}`, { skip: missing ?? false }, () =>
    testTransactions(pool, open),
  );
}
