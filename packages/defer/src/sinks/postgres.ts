import { wellFormed } from '../delivery/message.ts';
import { isolate } from '../delivery/outcomes.ts';
import { untilAborted } from '../delivery/until-aborted.ts';
import { tableCreator, type PostgresPool } from '../postgres/pool.ts';
import { quoteTable } from '../transactions/table.ts';
import type { Delivery, Sink } from '../sink.ts';
import { refuseUnknown } from '../validate.ts';

export interface PostgresOptions {
  /** You own it: the sink does not close it. */
  pool: PostgresPool;
  /**
   * The table of the jobs, with or without a schema.
   * @default 'deferred_jobs'
   */
  table?: string;
  /**
   * Creates the table if it does not exist; `postgresTable()` returns the statement for a migration.
   * @default true
   */
  createTable?: boolean;
}

/** Returns the statement that creates the table the sink writes to. */
export function postgresTable(table = 'deferred_jobs'): string {
  return `create table if not exists ${quoteTable(table)} (
  position bigint generated always as identity primary key,
  key text not null,
  job text not null,
  data jsonb not null,
  deferred_at timestamptz not null,
  context jsonb,
  unique (job, key)
)`;
}

/**
 * Each job is one row, a batch one statement. `key` is the job's key, or its id if it has none: a second row with that
 * name and key is dropped, so that no job appears twice.
 *
 * @example
 * ```ts
 * const sink = postgres({ pool: new Pool({ connectionString: process.env.DATABASE_URL }) });
 * ```
 */
export function postgres(options: PostgresOptions): Sink {
  refuseUnknown<keyof PostgresOptions>('postgres', options, {
    pool: true,
    table: true,
    createTable: true,
  });
  const { pool, table = 'deferred_jobs', createTable = true } = options;
  const creator = tableCreator(pool, createTable ? postgresTable(table) : undefined);
  const insert = `insert into ${quoteTable(table)} (key, job, data, deferred_at, context)
    select key, job, data::jsonb, to_timestamp(at / 1000), context::jsonb
    from unnest($1::text[], $2::text[], $3::text[], $4::float8[], $5::text[])
      with ordinality as row(key, job, data, at, context, place)
    order by place
    on conflict (job, key) do nothing`;
  const write = (part: readonly Delivery[]): Promise<unknown> =>
    pool.query(insert, [
      part.map(({ key, id }) => (key === undefined ? id : wellFormed(key))),
      part.map(({ job }) => job),
      part.map(({ json }) => json),
      part.map(({ deferredAtMs }) => deferredAtMs),
      part.map(({ context }) => (context === undefined ? null : JSON.stringify(context))),
    ]);
  return {
    kind: 'postgres',
    async send(batch, signal) {
      // Separate from the first batch: no job is at fault if it fails.
      await untilAborted(creator.create(), signal);
      return isolate(batch, (part) => untilAborted(write(part), signal), isFaultOfJob);
    },
  };
}

/** True for data that no column can hold, a constraint of the table, a limit: classes 22, 23 and 54. All else is the server. */
function isFaultOfJob(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^(22|23|54)...$/.test(code);
}
