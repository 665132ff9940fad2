import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it, type TestContext } from 'node:test';
import { startPostgres } from '@redline/services';
import { Pool, type PoolClient } from 'pg';
import type { Outbox, OutboxHost, OutboxJob } from '../../src/outbox.ts';
import { postgresOutbox } from '../../src/sinks/postgres-outbox.ts';
import { until } from '@redline/services/until';

const { server, missing } = await startPostgres();
after(() => server?.stop());

interface Relay extends OutboxHost {
  delivered: OutboxJob[];
  warnings: string[];
}

describe('postgresOutbox', { skip: missing ?? false }, () => {
  let pool: Pool;
  before(() => {
    pool = new Pool({ connectionString: server!.url, max: 8 });
    pool.on('error', () => {});
  });
  after(() => pool.end());

  it('passes on what was committed, whole, and nothing of what was rolled back', async (t) => {
    const { outbox, relay, left } = await open(t);
    const kept = job({ key: 'k', context: { requestId: 'r' }, options: { delay: 5 } });
    await inTransaction('commit', (client) => outbox.enqueue(client, kept));
    await inTransaction('rollback', (client) => outbox.enqueue(client, job()));
    await until('the jobs', () => relay.delivered.length > 0);
    assert.deepEqual(relay.delivered, [kept]);
    await until('no rows', async () => (await left()) === 0);
  });

  it('passes on a thousand of many transactions, each once, in the order of their rows', async (t) => {
    const { outbox, relay, left } = await open(t, { inFlight: 64 });
    const jobs = Array.from({ length: 1_000 }, () => job());
    await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        inTransaction('commit', async (client) => {
          for (const each of jobs.slice(i * 100, i * 100 + 100)) await outbox.enqueue(client, each);
        }),
      ),
    );
    await until('no rows', async () => (await left()) === 0);
    const ids = relay.delivered.map(({ id }) => id);
    assert.equal(new Set(ids).size, 1_000);
    assert.equal(ids.length, 1_000);
    for (let i = 0; i < 10; i++) {
      const own = jobs.slice(i * 100, i * 100 + 100).map(({ id }) => id);
      assert.deepEqual(
        ids.filter((id) => own.includes(id)),
        own,
      );
    }
  });

  it('passes on nothing of a transaction that is rolled back in the turn of the call', async (t) => {
    for (const isTableKnown of [true, false]) {
      const table = randomUUID();
      const { outbox, relay, left } = await open(t, {}, table);
      const used = isTableKnown ? outbox : postgresOutbox({ pool, table });
      const outcomes: Promise<unknown>[] = [];
      await inTransaction('rollback', async (client) => {
        outcomes.push(
          used.enqueue(client, job()).then(
            () => 'written',
            ({ code }) => code,
          ),
        );
      });
      // The next transaction of the client is not the job's.
      const kept = job();
      await inTransaction('commit', async (client) => {
        outcomes.push(
          used.enqueue(client, job()).then(
            () => 'written',
            ({ code }) => code,
          ),
        );
        await client.query('rollback');
        await client.query('begin');
        await client.query('select txid_current()');
        await outbox.enqueue(client, kept);
      });
      await until('the jobs', () => relay.delivered.length > 0);
      await until('no rows', async () => (await left()) === 0);
      assert.deepEqual(relay.delivered, [kept]);
      const wanted = isTableKnown ? 'written' : 'ERR_REDLINE_DEFER_LEVEL';
      assert.deepEqual(await Promise.all(outcomes), [wanted, wanted]);
    }
  });

  it('needs no second client of the pool for a transaction, unless its table is to be made', async (t) => {
    const small = new Pool({ connectionString: server!.url, max: 1 });
    small.on('error', () => {});
    t.after(() => small.end());
    const table = randomUUID();
    const client = await small.connect();
    try {
      await client.query('begin');
      const fresh = postgresOutbox({ pool: small, table });
      await assert.rejects(fresh.enqueue(client, job()), {
        code: 'ERR_REDLINE_DEFER_LEVEL',
        message: /more than one, or run outboxTable\(\)/,
      });
      await client.query('rollback');
      await open(t, {}, table);
      await client.query('begin');
      await postgresOutbox({ pool: small, table }).enqueue(client, job());
      await client.query('rollback');
    } finally {
      client.release();
    }
  });

  it('shares the rows with other relays, so that none takes what another has', async (t) => {
    const table = randomUUID();
    const relays = [await open(t, {}, table), await open(t, {}, table), await open(t, {}, table)];
    await inTransaction('commit', async (client) => {
      for (let i = 0; i < 300; i++) await relays[0]!.outbox.enqueue(client, job());
    });
    await until('no rows', async () => (await relays[0]!.left()) === 0);
    const all = relays.flatMap(({ relay }) => relay.delivered.map(({ id }) => id));
    assert.equal(all.length, 300);
    assert.equal(new Set(all).size, 300);
  });

  it('keeps the row of what could not be passed on, and frees it when it closes', async (t) => {
    const table = randomUUID();
    const { promise: never } = Promise.withResolvers<void>();
    const first = await open(t, {}, table, () => never);
    const kept = job();
    await inTransaction('commit', (client) => first.outbox.enqueue(client, kept));
    await until('the jobs', () => first.relay.delivered.length > 0);
    assert.equal(await first.left(), 1);
    await first.outbox.close();
    const second = await open(t, {}, table);
    await until('the jobs', () => second.relay.delivered.length > 0);
    assert.equal(second.relay.delivered[0]!.id, kept.id);
    await until('no rows', async () => (await second.left()) === 0);
  });

  it('lets another take the rows of a relay that died, when its lease is over', async (t) => {
    const table = randomUUID();
    const { outbox } = await open(t, { leaseMs: 60_000 }, table);
    await outbox.close();
    await pool.query(
      `insert into "${table}" (id, sink, job, data, deferred_at_ms, claimed_until)
       values ('dead-relay', 's', 'j', 'null', 1, now() + interval '300 milliseconds')`,
    );
    const { relay } = await open(t, { pollMs: 20, leaseMs: 300 }, table);
    await until('the jobs', () => relay.delivered.length > 0);
    assert.equal(relay.delivered[0]!.id, 'dead-relay');
  });

  it('does not let a sink that is down stop another', async (t) => {
    const { promise: never } = Promise.withResolvers<void>();
    const { outbox, relay, left } = await open(t, { inFlight: 20 }, randomUUID(), ({ sink }) =>
      sink === 'down' ? never : Promise.resolve(),
    );
    await inTransaction('commit', async (client) => {
      for (let i = 0; i < 50; i++) await outbox.enqueue(client, job({ sink: 'down' }));
      for (let i = 0; i < 50; i++) await outbox.enqueue(client, job({ sink: 'up' }));
    });
    await until(
      'the jobs',
      () => relay.delivered.filter(({ sink }) => sink === 'up').length === 50,
    );
    await until('no rows', async () => (await left()) === 50);
  });

  it(
    'outlives a database that dies and comes back, and loses nothing',
    { timeout: 600_000 },
    async (t) => {
      const { outbox, relay, left } = await open(t);
      const jobs = Array.from({ length: 200 }, () => job());
      let gate = Promise.withResolvers<void>();
      relay.deliver = async (each) => {
        if (relay.delivered.length === 50) await gate.promise;
        relay.delivered.push(each);
      };
      await inTransaction('commit', async (client) => {
        for (const each of jobs) await outbox.enqueue(client, each);
      });
      await until('the jobs', () => relay.delivered.length === 50);
      await server!.kill();
      gate.resolve();
      await server!.restart();
      await until('no rows', async () => (await left().catch(() => 1)) === 0);
      assert.deepEqual(
        new Set(relay.delivered.map(({ id }) => id)),
        new Set(jobs.map(({ id }) => id)),
      );
      gate = Promise.withResolvers();
    },
  );

  it('is notified of commits, of its own and of other processes, and polls no more', async (t) => {
    const table = randomUUID();
    const { relay, left } = await open(t, { pollMs: 3_600_000, leaseMs: 3_600_000 }, table);
    const commit = async (outbox: Outbox, id: string): Promise<void> => {
      await inTransaction('commit', (client) => outbox.enqueue(client, job({ id })));
      await until('the jobs', () => relay.delivered.some((each) => each.id === id));
      await until('no rows', async () => (await left()) === 0);
    };
    const elsewhere = postgresOutbox({ pool, table });
    for (const id of ['first', 'second']) await commit(elsewhere, `${id} ${table}`);
    // Its connection ends, and what is committed before it has another is found as well.
    await pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where query like '%pg_notify%' and pid <> pg_backend_pid()`,
    );
    for (const id of ['third', 'fourth']) await commit(elsewhere, `${id} ${table}`);
    // Without notifications there would be nothing for an hour.
    const silent = postgresOutbox({ pool, table, listen: false });
    const id = `silent ${table}`;
    await inTransaction('commit', (client) => silent.enqueue(client, job({ id })));
    await commit(elsewhere, `fifth ${table}`);
    await until('the jobs', () => relay.delivered.some((each) => each.id === id));
    assert.equal(new Set(relay.delivered.map((each) => each.id)).size, relay.delivered.length);
  });

  it('refuses a transaction that is none', async (t) => {
    const { outbox } = await open(t);
    for (const nothing of [undefined, null, {}, 'begin']) {
      await assert.rejects(outbox.enqueue(nothing, job()), { code: 'ERR_REDLINE_DEFER_LEVEL' });
    }
  });

  it('takes no option that cannot work', () => {
    for (const bad of [
      { pollMs: 0 },
      { leaseMs: -1 },
      { inFlight: Number.NaN },
      { table: 'a.b.c' },
    ]) {
      assert.throws(() => postgresOutbox({ pool, ...bad }), { code: 'ERR_REDLINE_DEFER_OPTION' });
    }
  });

  async function open(
    t: TestContext,
    options: { inFlight?: number; leaseMs?: number; pollMs?: number } = {},
    table: string = randomUUID(),
    fate: (job: OutboxJob) => Promise<void> = () => Promise.resolve(),
  ): Promise<{ outbox: Outbox; relay: Relay; left(): Promise<number> }> {
    const outbox = postgresOutbox({ pool, table, ...options });
    const closing = Promise.withResolvers<never>();
    closing.promise.catch(() => {});
    const relay: Relay = {
      delivered: [],
      warnings: [],
      deliver(each) {
        relay.delivered.push(each);
        return Promise.race([fate(each).then(() => undefined), closing.promise]);
      },
      lifeOf: () => undefined,
      warn: (message, error) => void relay.warnings.push(`${message} ${String(error)}`),
    };
    const { close } = outbox;
    outbox.close = async () => {
      closing.reject(new Error('closing'));
      await close.call(outbox);
    };
    await outbox.open(relay);
    t.after(() => outbox.close());
    await until('the table', async () => {
      const { rows } = await pool.query('select to_regclass($1) as there', [`"${table}"`]);
      return rows[0].there !== null;
    });
    return {
      outbox,
      relay,
      async left() {
        const { rows } = await pool.query(`select count(*)::int as left from "${table}"`);
        return rows[0].left;
      },
    };
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

let count = 0;
function job(given: Partial<OutboxJob> = {}): OutboxJob {
  count += 1;
  return {
    id: `job-${count}`,
    sink: 'mail',
    job: 'send-mail',
    key: undefined,
    json: JSON.stringify({ n: count }),
    deferredAtMs: 1_790_000_000_000 + count,
    context: undefined,
    options: undefined,
    ...given,
  };
}
