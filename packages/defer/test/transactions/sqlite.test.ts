// The outbox and the inbox in transactions of SQLite, on files.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { sqliteOutbox } from '../../src/sinks/sqlite-outbox.ts';
import type { SqliteDatabase } from '../../src/sqlite/database.ts';
import { sqliteInbox } from '../../src/sqlite/sqlite-inbox.ts';
import { delivery } from '../../src/testing/deliveries.ts';
import { until } from '@redline/services/until';

import { job, testTransactions, type Database, type Transactions } from './contract.ts';
import { testInbox } from './inbox-contract.ts';

const require = createRequire(import.meta.url);
const BetterSqlite = require('better-sqlite3') as new (file: string) => SqliteDatabase & {
  transaction(work: () => void): () => void;
};

/** Each driver has one of two ways to read whole numbers as BigInt. */
type OpenDatabase = (
  file: string,
  options?: { readBigInts?: boolean },
) => SqliteDatabase & { defaultSafeIntegers?(isOn: boolean): unknown };

// Experimental in Node 22, where importing it warns.
const sqlite = process.getBuiltinModule('node:sqlite') as
  | { DatabaseSync: new (...args: Parameters<OpenDatabase>) => SqliteDatabase }
  | undefined;

const folder = mkdtempSync(join(tmpdir(), 'redline-sqlite-'));
const opened: SqliteDatabase[] = [];
after(() => {
  for (const database of opened) close(database);
  rmSync(folder, { recursive: true, force: true });
});

const drivers: Readonly<Record<string, OpenDatabase | undefined>> = {
  'node:sqlite': sqlite && ((file, options) => new sqlite.DatabaseSync(file, options ?? {})),
  'better-sqlite3': (file) => new BetterSqlite(file),
};

for (const [name, driver] of Object.entries(drivers)) {
  const skip = driver === undefined && `this Node has no ${name}`;
  const open = (file: string = randomUUID()): SqliteDatabase => {
    const database = driver!(join(folder, file));
    opened.push(database);
    return database;
  };

  describe(`a transaction of ${name}`, { skip }, () => {
    if (driver === undefined) return;
    const own = open('own');
    testTransactions(on(own, open('own')), () => transactionsOn(own));
  });

  describe(`a transaction of ${name}, with a relay on a database of its own`, { skip }, () => {
    if (driver === undefined) return;
    const own = open('shared');
    testTransactions(on(open('shared'), open('shared')), () => transactionsOn(own));

    it('refuses a database on another file, which no relay would read', async () => {
      const outbox = sqliteOutbox({ database: open('shared') });
      for (const other of [open(), driver(':memory:')]) {
        other.exec('begin');
        await assert.rejects(outbox.enqueue(other, job()), /both must be on one file/);
        other.exec('rollback');
      }
    });

    it('passes jobs on if the database reads whole numbers as BigInt', async () => {
      const database = driver(join(folder, randomUUID()), { readBigInts: true });
      opened.push(database);
      database.defaultSafeIntegers?.(true);
      const outbox = sqliteOutbox({ database });
      const delivered: unknown[] = [];
      await outbox.open({
        deliver: async (each) => void delivered.push(each),
        lifeOf: () => undefined,
        warn: () => {},
      });
      const jobs = [job(), job()];
      database.exec('begin');
      for (const each of jobs) await outbox.enqueue(database, each);
      database.exec('commit');
      await until('the jobs', () => delivered.length === jobs.length);
      await outbox.close();
      assert.deepEqual(delivered, jobs);
    });

    it('deletes rows that their writers no longer need, though no other job comes', async () => {
      const database = open();
      const outbox = sqliteOutbox({ database });
      const ids = [randomUUID(), randomUUID()];
      database.exec('begin');
      for (const id of ids) await outbox.enqueue(database, job({ id }));
      database.exec('commit');
      const arrived = database.prepare(
        `update defer_outbox set sent_to = '', sent_at_ms = unixepoch() * 1000 - ? where id = ?`,
      );
      arrived.run(120_000, ids[0]);
      arrived.run(0, ids[1]);
      await outbox.open({
        deliver: async () => undefined,
        lifeOf: () => undefined,
        warn: () => {},
      });
      const rest = (): unknown[] => database.prepare('select id from defer_outbox').all();
      await until('the deletion', () => rest().length === 1);
      assert.deepEqual(
        rest().map((row) => ({ ...(row as object) })),
        [{ id: ids[1] }],
      );
      await outbox.close();
    });

    it('writes the row of a call that is not awaited, if the transaction commits', async () => {
      const database = open();
      const outbox = sqliteOutbox({ database });
      const kept = job();
      for (const [each, end] of [
        [job(), 'rollback'],
        [kept, 'commit'],
      ] as const) {
        database.exec('begin');
        void outbox.enqueue(database, each);
        database.exec(end);
      }
      const rows = database.prepare('select id from defer_outbox').all() as { id: string }[];
      assert.deepEqual(
        rows.map(({ id }) => id),
        [kept.id],
      );
    });
  });

  describe(`sqliteInbox on ${name}`, { skip }, () => {
    if (driver === undefined) return;
    const reader = open('inbox');
    testInbox({
      open: (table) => sqliteInbox({ open: () => open('inbox'), table }),
      insert: (database: SqliteDatabase, what) =>
        void database.prepare('insert into effects values (?)').run(what),
      count: async (what) => {
        reader.exec('create table if not exists effects (what text)');
        const text = 'select count(*) as n from effects where what = ?';
        return (reader.prepare(text).get(what) as { n: number }).n;
      },
      fail: (database: SqliteDatabase) => void database.exec('rollback'),
    });

    it('opens the database again if a handler has closed it', async () => {
      const inbox = sqliteInbox({ open: () => open('inbox'), table: 'closed' });
      const closing = inbox.once((_, database) => void database.close());
      const { signal } = new AbortController();
      await assert.rejects(async () => closing(undefined, delivery(), signal));
      await inbox.once(() => {})(undefined, delivery(), signal);
    });
  });
}

describe('the synchronous transactions of better-sqlite3', () => {
  const file = join(folder, 'synchronous');
  const database = new BetterSqlite(file);
  opened.push(database);
  const db = drizzle(database as never);
  const ways: Record<string, (work: (transaction: object) => void) => void> = {
    'its own': (work) => database.transaction(() => work(database))(),
    Drizzle: (work) => db.transaction((tx) => work(tx)),
  };
  for (const [name, run] of Object.entries(ways)) {
    it(`commit the row, or roll it back: ${name}`, async () => {
      const outbox = sqliteOutbox({ database });
      const ended: Promise<boolean>[] = [];
      const enqueue = (transaction: object): void => {
        const signal = new AbortController().signal;
        ended.push(outbox.enqueue(transaction, job()).then((row) => row!.isCommitted(signal)));
      };
      run(enqueue);
      assert.throws(() =>
        run((transaction) => {
          enqueue(transaction);
          throw new Error('to be rolled back');
        }),
      );
      assert.deepEqual(await Promise.all(ended), [true, false]);
      await assert.rejects(outbox.enqueue(name === 'Drizzle' ? db : database, job()), {
        code: 'ERR_REDLINE_DEFER_LEVEL',
      });
    });
  }
});

function close(database: SqliteDatabase): void {
  try {
    database.close();
  } catch {
    // The inbox has closed it.
  }
}

function on(relay: SqliteDatabase, own: SqliteDatabase): Database {
  return {
    outbox: (table) => sqliteOutbox({ database: relay, table }),
    inbox: (table) => sqliteInbox({ open: () => own, table }),
    run: async (text) => own.exec(text),
    quoted: (table) => `"${table}"`,
    rows: async (table) => {
      const text = `select * from "${table}" where sent_at_ms is null order by position`;
      return own.prepare(text).all() as Record<string, unknown>[];
    },
  };
}

/* One after another, as on any one connection. */
function transactionsOn(database: SqliteDatabase): Transactions {
  let last: Promise<unknown> = Promise.resolve();
  return {
    others: [database, {}],
    async run(work) {
      const before = last;
      const { promise, resolve } = Promise.withResolvers<void>();
      last = promise;
      await before;
      try {
        database.exec('begin');
        await work(database, async (text) => database.exec(text));
        database.exec('commit');
      } catch (error) {
        database.exec('rollback');
        throw error;
      } finally {
        resolve();
      }
    },
  };
}
