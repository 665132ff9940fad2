import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import type { Inbox } from '../../src/inbox/inbox.ts';
import type { Outbox, OutboxJob } from '../../src/outbox.ts';
import { delivery } from '../../src/testing/deliveries.ts';
import { until } from '@redline/services/until';

/** A database that has an outbox. */
export interface Database {
  outbox(table: string): Outbox;
  inbox(table: string): Pick<Inbox<never>, 'claim'>;
  /** Runs a statement outside of all transactions. */
  run(text: string): Promise<unknown>;
  /** Rows of a table whose jobs have not arrived, in their order. */
  rows(table: string): Promise<Record<string, unknown>[]>;
  quoted(table: string): string;
  /** The ids of the transactions that wrote its rows, where the database has them. */
  writers?(table: string): Promise<string[]>;
}

/** A library for a database, as its users begin and end a transaction with it. */
export interface Transactions {
  /** Rejects with the error of `work`, after the rollback. */
  run(
    work: (transaction: object, query: (text: string) => Promise<unknown>) => Promise<unknown>,
  ): Promise<void>;
  /** Objects that are not transactions, and might be taken for one. */
  readonly others: readonly object[];
}

const rollBack = new Error('to be rolled back');

/** A job is in the transaction, or not at all. */
export function testTransactions(database: Database, open: () => Transactions): void {
  const made = (): { table: string; outbox: Outbox } => {
    const table = `outbox ? $1 ${randomUUID().slice(0, 8)}`;
    return { table, outbox: database.outbox(table) };
  };
  const rowsOf = (table: string): Promise<Record<string, unknown>[]> => database.rows(table);

  it('writes the row with the caller’s own, whatever is in it', async () => {
    const { table, outbox } = made();
    const jobs = [
      job({
        json: '{"a":"? $1 \\\\ \'\\"ü\\ud83d\\ude00"}',
        key: '?$2',
        context: { requestId: '?' },
      }),
      job({ options: { delay: 5 } }),
    ];
    const own = `own ${randomUUID()}`;
    await database.run(`create table ${database.quoted(own)} (n int)`);
    await open().run(async (transaction, query) => {
      await query(`insert into ${database.quoted(own)} values (1)`);
      // The first looks for the table, and the second knows of it.
      for (const each of jobs) await outbox.enqueue(transaction, each);
    });
    const rows = await rowsOf(table);
    assert.deepEqual(
      rows.map(({ id, sink, job: name, key, data, deferred_at_ms, context, options }) => ({
        id,
        sink,
        job: name,
        key: key ?? undefined,
        json: data,
        deferredAtMs: Number(deferred_at_ms),
        context: context === null ? undefined : JSON.parse(context as string),
        options: options === null ? undefined : JSON.parse(options as string),
      })),
      jobs,
    );
    assert.deepEqual(
      new Set(await database.writers?.(table)),
      new Set(await database.writers?.(own)),
    );
  });

  it('writes nothing if the transaction is rolled back, and reports the outcome of each', async () => {
    const { table, outbox } = made();
    for (const isCommitted of [false, true, false]) {
      let ended: Promise<boolean> | undefined;
      const run = open().run(async (transaction) => {
        const row = await outbox.enqueue(transaction, job());
        ended = row!.isCommitted(new AbortController().signal);
        if (!isCommitted) throw rollBack;
      });
      if (isCommitted) await run;
      else await assert.rejects(run, rollBack);
      assert.equal(await ended, isCommitted);
    }
    assert.equal((await rowsOf(table)).length, 1);
  });

  it('writes nothing outside of the transaction if it is not awaited', async () => {
    const { table, outbox } = made();
    // From the second one on the table is known.
    await open().run((transaction) => outbox.enqueue(transaction, job()));
    const outcomes: Promise<'written' | 'refused'>[] = [];
    const enqueue = (transaction: object): void => {
      const row = outbox.enqueue(transaction, job());
      outcomes.push(
        row.then(
          () => 'written',
          () => 'refused',
        ),
      );
    };
    const run = open().run(async (transaction) => {
      enqueue(transaction);
      throw rollBack;
    });
    await assert.rejects(run, rollBack);
    await Promise.all(outcomes.splice(0));
    assert.equal((await rowsOf(table)).length, 1);
    await open().run(async (transaction) => enqueue(transaction));
    const [outcome] = await Promise.all(outcomes);
    assert.equal((await rowsOf(table)).length, outcome === 'written' ? 2 : 1);
  });

  it('refuses an object that is not a transaction, and a transaction that has ended', async () => {
    const { table, outbox } = made();
    let kept: object | undefined;
    const transactions = open();
    await transactions.run(async (transaction) => {
      kept = transaction;
      await outbox.enqueue(transaction, job());
    });
    for (const other of transactions.others) {
      await assert.rejects(outbox.enqueue(other, job()), { code: 'ERR_REDLINE_DEFER_LEVEL' });
    }
    await assert.rejects(outbox.enqueue(kept, job()));
    assert.equal((await rowsOf(table)).length, 1);
  });

  it('claims a delivery with the caller’s own work', async () => {
    const inbox = database.inbox(randomUUID());
    const each = delivery();
    const claims: boolean[] = [];
    for (const isCommitted of [false, true, true]) {
      const run = open().run(async (transaction) => {
        claims.push(await inbox.claim(transaction, each));
        if (!isCommitted) throw rollBack;
      });
      if (isCommitted) await run;
      else await assert.rejects(run, rollBack);
    }
    assert.deepEqual(claims, [true, true, false]);
  });

  it('passes committed jobs on, each once', async () => {
    const { outbox } = made();
    const delivered: string[] = [];
    await outbox.open({
      deliver: async ({ id }) => void delivered.push(id),
      lifeOf: () => undefined,
      warn: () => {},
    });
    const jobs = Array.from({ length: 20 }, () => job());
    const transactions = open();
    await Promise.all(
      jobs.map(async (each, at) => {
        const run = transactions.run(async (transaction) => {
          await outbox.enqueue(transaction, each);
          if (at % 2 === 1) throw rollBack;
        });
        await run.catch((error: unknown) => assert.equal(error, rollBack));
      }),
    );
    const wanted = jobs.filter((_, at) => at % 2 === 0).map(({ id }) => id);
    await until('the jobs', () => delivered.length >= wanted.length);
    await outbox.close();
    assert.deepEqual(delivered.toSorted(), wanted.toSorted());
  });
}

export function job(facts: Partial<OutboxJob> = {}): OutboxJob {
  return {
    id: randomUUID(),
    sink: 'sink',
    job: 'job',
    key: undefined,
    json: '{"n":1}',
    deferredAtMs: 1_800_000_000_000,
    context: undefined,
    options: undefined,
    ...facts,
  };
}
