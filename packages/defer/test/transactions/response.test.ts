// Level outbox through HTTP in MariaDB and SQLite: a response that claims success waits for the commit, and claims nothing that was
// rolled back. test/outbox-commit.test.ts has PostgreSQL.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { startMariadb } from '@redline/services';
import fastify from 'fastify';
import { createPool } from 'mysql2/promise';
import { fastifyDefer } from '../../src/adapters/fastify.ts';
import { createDefer, defer, defineJob } from '../../src/index.ts';
import type { Outbox } from '../../src/outbox.ts';
import { handlers } from '../../src/sinks/handlers.ts';
import { mariadbOutbox } from '../../src/sinks/mariadb-outbox.ts';
import { sqliteOutbox } from '../../src/sinks/sqlite-outbox.ts';
import type { SqliteDatabase } from '../../src/sqlite/database.ts';
import { until } from '@redline/services/until';
import { TestLogger } from '../harness.ts';

const { server, missing } = await startMariadb();
const pool = createPool(server?.url ?? 'mysql://root@127.0.0.1:1/none');
const folder = mkdtempSync(join(tmpdir(), 'redline-sqlite-'));
const BetterSqlite = createRequire(import.meta.url)('better-sqlite3') as new (
  file: string,
) => SqliteDatabase;
const [app, relay] = [0, 1].map(() => new BetterSqlite(join(folder, 'app'))) as [
  SqliteDatabase,
  SqliteDatabase,
];
after(async () => {
  for (const database of [app, relay]) database.close();
  rmSync(folder, { recursive: true });
  await pool.end();
  await server?.stop();
});

interface Way {
  readonly skip: string | false;
  outbox(): Outbox;
  /** Begins a transaction, and returns the function that ends it. */
  begin(): Promise<{ transaction: object; end(statement: string): Promise<unknown> }>;
}

const ways: Readonly<Record<string, Way>> = {
  MariaDB: {
    skip: missing ?? false,
    outbox: () => mariadbOutbox({ pool }),
    async begin() {
      const transaction = await pool.getConnection();
      await transaction.beginTransaction();
      return {
        transaction,
        end: (statement) => transaction.query(statement).finally(() => transaction.release()),
      };
    },
  },
  SQLite: {
    skip: false,
    outbox: () => sqliteOutbox({ database: relay }),
    async begin() {
      app.exec('begin');
      return { transaction: app, end: async (statement) => app.exec(statement) };
    },
  },
};

for (const [name, way] of Object.entries(ways)) {
  describe(`a response with a job of level outbox in ${name}`, { skip: way.skip }, () => {
    it('leaves when the transaction is committed, and is a 503 if it was rolled back', async (t) => {
      const done: string[] = [];
      const note = defineJob<string>('note', { level: 'outbox' });
      const deferrer = createDefer({
        sinks: { work: handlers({ note: (what: string) => void done.push(what) }) },
        outbox: way.outbox(),
        handleSignals: false,
        logger: new TestLogger(),
      });
      const web = fastify();
      await web.register(fastifyDefer, { deferrer });
      let isEnded = false;
      web.get<{ Params: { end: string } }>('/:end', async ({ params }, reply) => {
        const { transaction, end } = await way.begin();
        await defer(note, params.end, { transaction }).acknowledged();
        void reply.send('ok');
        // A response that does not wait leaves in these turns.
        for (let n = 0; n < 20; n++) await new Promise((resolve) => void setImmediate(resolve));
        isEnded = true;
        await end(params.end);
        return reply;
      });
      const url = await web.listen({ port: 0, host: '127.0.0.1' });
      t.after(() => web.close());
      for (const [end, status] of [
        ['rollback', 503],
        ['commit', 200],
      ] as const) {
        isEnded = false;
        const response = await fetch(`${url}/${end}`);
        assert.deepEqual({ status: response.status, isEnded }, { status, isEnded: true });
      }
      await until('the job', () => done.length === 1);
      assert.deepEqual(done, ['commit']);
    });
  });
}
