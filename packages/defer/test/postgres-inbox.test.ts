import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { startPostgres } from '@redline/services';
import { Pool, type PoolClient } from 'pg';
import { inboxTable, postgresInbox, type PostgresInbox } from '../src/postgres/postgres-inbox.ts';
import type { DeliveryResult, Handler } from '../src/sink.ts';
import { handlers } from '../src/sinks/handlers.ts';
import { until } from '@redline/services/until';

import { delivery } from '../src/testing/deliveries.ts';
import { testInbox } from './transactions/inbox-contract.ts';

const { server, missing } = await startPostgres();
after(() => server?.stop());

describe('postgresInbox', { skip: missing ?? false }, () => {
  let pool: Pool;
  before(async () => {
    pool = new Pool({ connectionString: server!.url, max: 8 });
    pool.on('error', () => {});
    await pool.query('create table effects (what text)');
  });
  after(() => pool.end());

  testInbox({
    open: (table) => postgresInbox<PoolClient>({ pool, table }),
    insert: (client, what) => client.query('insert into effects values ($1)', [what]),
    count,
    fail: (client) => client.query('rollback'),
  });

  it('has a job tried again whose handler went on behind a failed query: COMMIT is answered by ROLLBACK', async () => {
    const what = randomUUID();
    const job = delivery();
    let isFirst = true;
    const handler = open().once(async (_: unknown, client) => {
      await insert(what)(undefined, client);
      if (!isFirst) return;
      isFirst = false;
      await client.query('select 1 / 0').catch(() => {});
    });
    const failed = await run(handler, job);
    assert.equal(failed?.kind, 'retry');
    assert.match(
      (failed!.error as Error).message,
      /not committed \(ROLLBACK\): a query in it failed/,
    );
    assert.equal(await count(what), 0);
    assert.equal(await run(handler, job), undefined);
    assert.equal(await count(what), 1);
  });

  it('rolls back what is not waited for any longer, though the handler goes on', async () => {
    const what = randomUUID();
    const gate = Promise.withResolvers<void>();
    const inserted = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<unknown>();
    const abort = new AbortController();
    const handler = open().once(async (_: unknown, client) => {
      await insert(what)(undefined, client);
      inserted.resolve();
      await gate.promise;
      await insert(what)(undefined, client).then(ended.resolve, ended.resolve);
    });
    const job = delivery();
    const first = run(handler, job, abort.signal);
    await inserted.promise;
    abort.abort(new Error('too late'));
    assert.equal((await first)?.kind, 'retry');
    // It does not have to wait for the first, whose row the server has let go.
    assert.equal(await run(open(tableOf(handler)).once(insert(what)), job), undefined);
    gate.resolve();
    assert.ok((await ended.promise) instanceof Error);
    assert.equal(await count(what), 1);
    await until('the clients', () => pool.totalCount === pool.idleCount);
  });

  it('takes part in a transaction of the caller, and goes with it', async () => {
    const inbox = open();
    const job = delivery({ key: 'k' });
    const claims = async (end: 'commit' | 'rollback'): Promise<boolean> => {
      const client = await pool.connect();
      try {
        await client.query('begin');
        const isFirst = await inbox.claim(client, job);
        await client.query(end);
        return isFirst;
      } finally {
        client.release();
      }
    };
    assert.equal(await claims('rollback'), true);
    assert.equal(await claims('commit'), true);
    assert.equal(await claims('commit'), false);
  });

  it('forgets what is older than it is to retain', async () => {
    const table = `inbox.${randomUUID()}`;
    await pool.query('create schema if not exists inbox');
    await pool.query(inboxTable(table));
    const quoted = table.replace('.', '."') + '"';
    await pool.query(
      `insert into ${quoted} select n::text, now() - interval '8 days' from generate_series(1, 2500) as n`,
    );
    await pool.query(`insert into ${quoted} values ('young', now() - interval '6 days')`);
    const inbox = postgresInbox<PoolClient>({ pool, table, createTable: false });
    await run(
      inbox.once(() => {}),
      delivery({ key: 'new' }),
    );
    await until('the old rows to go', async () => {
      const { rows } = await pool.query(`select job from ${quoted} order by job`);
      return rows.map(({ job }) => job).join() === 'send-mail~new,young';
    });
  });

  it('counts no attempt while the database is away, and goes on when it is back', async () => {
    const what = randomUUID();
    const inbox = open();
    const between = Promise.withResolvers<void>();
    const entered = Promise.withResolvers<void>();
    let isFirst = true;
    const handler = inbox.once(async (_: unknown, client) => {
      await insert(what)(undefined, client);
      if (!isFirst) return;
      isFirst = false;
      entered.resolve();
      await between.promise;
    });
    const job = delivery();
    const cutOff = run(handler, job);
    await entered.promise;
    await server!.kill();
    between.resolve();
    for (const result of [await cutOff, await run(handler, job)]) {
      assert.ok(result?.kind === 'retry' && result.isUntried === true, JSON.stringify(result));
    }
    await server!.restart();
    await until('the job', async () => (await run(handler, job)) === undefined);
    assert.equal(await count(what), 1);
  });

  it('blames the job for what the database says of it', async () => {
    const handler = open().once((_: unknown, client) => client.query('select 1 / 0'));
    const result = await run(handler, delivery());
    assert.ok(result?.kind === 'retry' && result.isUntried === undefined);
    const gone = postgresInbox({ pool, table: 'nowhere', createTable: false }).once(() => {});
    const ofMissingTable = await run(gone, delivery());
    assert.ok(ofMissingTable?.kind === 'retry' && ofMissingTable.isUntried === undefined);
  });

  it('takes no option that cannot work', () => {
    for (const bad of [{ table: 'a.b.c' }, { retainMs: 0 }, { retainMs: Number.NaN }]) {
      assert.throws(() => postgresInbox({ pool, ...bad }), { code: 'ERR_REDLINE_DEFER_OPTION' });
    }
  });

  const tables = new WeakMap<object, string>();

  function tableOf(handler: Handler): string {
    return tables.get(handler)!;
  }

  function open(table: string = randomUUID()): PostgresInbox<PoolClient> {
    const inbox = postgresInbox<PoolClient>({ pool, table });
    return {
      claim: (client, job) => inbox.claim(client, job),
      once: (handler) => {
        const made = inbox.once(handler);
        tables.set(made, table);
        return made;
      },
    };
  }

  async function count(what: string): Promise<number> {
    const { rows } = await pool.query('select count(*)::int as n from effects where what = $1', [
      what,
    ]);
    return rows[0].n;
  }
});

/* As the sink runs it. */
async function run(
  handler: Handler,
  job: ReturnType<typeof delivery>,
  signal: AbortSignal = AbortSignal.timeout(30_000),
): Promise<DeliveryResult> {
  const sink = handlers({ 'send-mail': handler, log: handler });
  return (await sink.send([job], signal))?.[0];
}

function insert(what: string): (data: unknown, client: PoolClient) => Promise<void> {
  return async (_, client) => {
    await client.query('insert into effects values ($1)', [what]);
  };
}
