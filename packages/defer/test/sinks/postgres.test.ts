import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { startPostgres } from '@redline/services';
import { Pool } from 'pg';
import { postgres } from '../../src/sinks/postgres.ts';
import { delivery, host } from '../../src/testing/deliveries.ts';
import { runContract } from './run-contract.ts';

const { server, missing } = await startPostgres();
after(() => server?.stop());

describe('postgres', { skip: missing ?? false }, () => {
  let pool: Pool;
  before(() => {
    pool = new Pool({ connectionString: server!.url, max: 4 });
    pool.on('error', () => {});
  });
  after(() => pool.end());

  runContract({
    dedupes: true,
    // What JSON can hold and jsonb cannot.
    poison: { json: '"\\u0000"' },
    async open() {
      const table = `jobs.${randomUUID()}`;
      await pool.query('create schema if not exists jobs');
      return {
        sink: () => postgres({ pool, table }),
        async received() {
          const [schema, name] = table.split('.');
          const { rows } = await pool.query(
            `select job, key, data, context from ${schema}."${name}" order by position`,
          );
          return rows.map(({ job, data, context }) => ({
            job,
            data,
            ...(context === null ? {} : { traceparent: context.traceparent }),
          }));
        },
      };
    },
    outage: { begin: () => server!.kill(), end: () => server!.restart() },
  });

  it('keeps when a job was deferred, and its context', async (t) => {
    const table = randomUUID();
    const sink = postgres({ pool, table });
    await sink.open?.(host());
    t.after(() => sink.close?.());
    const context = { requestId: 'r-1' };
    const job = delivery({ key: 'k', context, deferredAtMs: 1_790_000_000_123 });
    await sink.send([job], AbortSignal.timeout(60_000));
    const { rows } = await pool.query(`select key, deferred_at, context from "${table}"`);
    assert.deepEqual(rows, [{ key: 'k', deferred_at: new Date(1_790_000_000_123), context }]);
  });

  it('makes its table while other sinks make it too, and blames no job for it', async (t) => {
    for (let round = 0; round < 20; round++) {
      const table = randomUUID();
      const sinks = [1, 2, 3, 4].map(() => postgres({ pool, table }));
      t.after(() => Promise.all(sinks.map((sink) => sink.close?.())));
      const results = await Promise.all(
        sinks.map((sink) => sink.send([delivery()], AbortSignal.timeout(60_000))),
      );
      assert.deepEqual(results, [undefined, undefined, undefined, undefined]);
      const { rows } = await pool.query(`select job from "${table}"`);
      assert.equal(rows.length, 4);
    }
  });

  it('takes no table that is no name', () => {
    for (const table of ['', 'a.b.c', '.a']) {
      assert.throws(() => postgres({ pool, table }), { code: 'ERR_REDLINE_DEFER_OPTION' });
    }
  });
});
