import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe, it, type TestContext } from 'node:test';
import { startPostgres } from '@redline/services';
import { Pool, type PoolClient } from 'pg';
import { createDefer, defineJob, type Deferrer } from '../../src/index.ts';
import { until } from '@redline/services/until';
import { temporaryFolder, TestSink } from '../harness.ts';
import { handlers } from '../../src/sinks/handlers.ts';
import { postgresOutbox } from '../../src/sinks/postgres-outbox.ts';

const { server, missing } = await startPostgres();
after(() => server?.stop());

interface Mail {
  n: number;
}

const sendMail = defineJob<Mail>('send-mail', { level: 'outbox' });

describe('level outbox', { skip: missing ?? false }, () => {
  const pool = new Pool({ connectionString: server?.url ?? '', max: 8 });
  after(() => pool.end());

  it('does what a transaction deferred when it has committed, and nothing when it has not', async (t) => {
    const { deferrer, done } = await open(t, randomUUID());
    const order = async (n: number, end: 'commit' | 'rollback'): Promise<void> => {
      await inTransaction(end, (transaction) =>
        deferrer.defer(sendMail, { n }, { transaction }).acknowledged(),
      );
    };
    await Promise.all([1, 2, 3, 4].map((n) => order(n, n % 2 === 0 ? 'commit' : 'rollback')));
    await until('the jobs', () => done.length === 2);
    assert.deepEqual(
      done.toSorted((a, b) => a - b),
      [2, 4],
    );
  });

  it('has not begun before the commit', async (t) => {
    const { deferrer, done } = await open(t, randomUUID());
    await inTransaction('commit', async (transaction) => {
      await deferrer.defer(sendMail, { n: 1 }, { transaction }).acknowledged();
      // Another's job goes by meanwhile.
      await inTransaction('commit', (other) =>
        deferrer.defer(sendMail, { n: 2 }, { transaction: other }).acknowledged(),
      );
      await until('the jobs', () => done.length > 0);
      assert.deepEqual(done, [2]);
    });
    await until('the jobs', () => done.length === 2);
    assert.deepEqual(done, [2, 1]);
  });

  it('has the rows of an app that is gone done by the next', async (t) => {
    const table = randomUUID();
    const first = await open(t, table, () => new Promise(() => {}));
    await inTransaction('commit', (transaction) =>
      first.deferrer.defer(sendMail, { n: 7 }, { transaction }).acknowledged(),
    );
    await until('the jobs', () => first.done.length === 1);
    await first.deferrer.close();
    const { done } = await open(t, table);
    await until('the jobs', () => done.length === 1);
    assert.deepEqual(done, [7]);
  });

  it('has a row done again when the server of its sink comes back with less, and keeps it no longer than the window', async (t) => {
    const table = randomUUID();
    const sink = new TestSink();
    const deferrer = createDefer({
      sinks: { mail: sink },
      outbox: postgresOutbox({ pool, table, pollMs: 20 }),
      journal: { directory: temporaryFolder(t), replayWindowMs: 2_000 },
      handleSignals: false,
      logger: false,
    });
    t.after(() => deferrer.close());
    await deferrer.ready();
    const rows = async (): Promise<number> =>
      Number((await pool.query(`select count(*) from "${table}"`)).rows[0].count);
    sink.host!.generation('one');
    await inTransaction('commit', async (transaction) => {
      for (const n of [1, 2, 3]) {
        await deferrer.defer(sendMail, { n }, { transaction }).acknowledged();
      }
    });
    await until('the jobs', () => sink.data.length === 3);
    assert.equal(await rows(), 3);
    sink.host!.generation('two');
    await until('the jobs', () => sink.data.length === 6);
    const isOver = async (): Promise<boolean> => {
      sink.host!.generation('two');
      return (await rows()) === 0;
    };
    await until('no rows', isOver);
    assert.equal(sink.data.length, 6);
  });

  it('is ready when its table is there: then one client is enough', async (t) => {
    const one = new Pool({ connectionString: server!.url, max: 1 });
    const done: number[] = [];
    const deferrer = createDefer({
      sinks: { mail: handlers({ 'send-mail': ({ n }: Mail) => void done.push(n) }) },
      outbox: postgresOutbox({ pool: one, table: randomUUID(), pollMs: 20 }),
      handleSignals: false,
    });
    t.after(async () => {
      await deferrer.close();
      await one.end();
    });
    await deferrer.ready();
    const client = await one.connect();
    try {
      await client.query('begin');
      await deferrer.defer(sendMail, { n: 1 }, { transaction: client }).acknowledged();
      await client.query('commit');
    } finally {
      client.release();
    }
    await until('the jobs', () => done.length === 1);
  });

  it('removes the rows of what is still done while it closes', async (t) => {
    const table = randomUUID();
    const { promise: isOver, resolve: over } = Promise.withResolvers<void>();
    const { deferrer, done } = await open(t, table, () => isOver);
    await inTransaction('commit', async (transaction) => {
      for (const n of [1, 2, 3]) {
        await deferrer.defer(sendMail, { n }, { transaction }).acknowledged();
      }
    });
    await until('the jobs', () => done.length === 3);
    const closed = deferrer.close({ drainMs: 60_000 });
    setImmediate(over);
    await closed;
    const { rows } = await pool.query(`select count(*)::int as left from "${table}"`);
    assert.deepEqual(rows, [{ left: 0 }]);
  });

  it('refuses a job without a transaction at the call', async (t) => {
    const { deferrer } = await open(t, randomUUID());
    await assert.rejects(async () => deferrer.defer(sendMail, { n: 1 }).acknowledged(), {
      code: 'ERR_REDLINE_DEFER_LEVEL',
    });
  });

  async function open(
    t: TestContext,
    table: string,
    fate: () => unknown = () => {},
  ): Promise<{ deferrer: Deferrer; done: number[] }> {
    const done: number[] = [];
    const deferrer = createDefer({
      sinks: {
        mail: handlers({
          'send-mail': ({ n }: Mail) => {
            done.push(n);
            return fate();
          },
        }),
      },
      outbox: postgresOutbox({ pool, table, pollMs: 20 }),
      handleSignals: false,
      drainMs: 100,
      logger: false,
    });
    await deferrer.ready();
    t.after(() => deferrer.close());
    return { deferrer, done };
  }

  async function inTransaction(
    end: 'commit' | 'rollback',
    work: (client: PoolClient) => Promise<unknown>,
  ): Promise<void> {
    const client = await pool.connect();
    try {
      await client.query('begin');
      await work(client);
      await client.query(end);
    } finally {
      client.release();
    }
  }
});
