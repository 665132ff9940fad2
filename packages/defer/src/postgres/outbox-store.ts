import {
  jobOf,
  jobColumns,
  type JobRow,
  type OutboxRow,
  type OutboxStore,
} from '../relay/store.ts';
import type { PostgresPool } from './pool.ts';
import { quoteTable, type TableCreator } from '../transactions/table.ts';

/** The outbox's table in PostgreSQL; times are the server's. */
export class PostgresStore implements OutboxStore {
  readonly #pool: PostgresPool;
  readonly #table: string;
  readonly #creator: TableCreator;

  /** @param table Quoted. */
  constructor(pool: PostgresPool, table: string, creator: TableCreator) {
    this.#pool = pool;
    this.#table = table;
    this.#creator = creator;
  }

  create(): Promise<void> {
    return this.#creator.create();
  }

  async take(limit: number, leaseMs: number, full: readonly string[]): Promise<OutboxRow[]> {
    const { rows } = await this.#pool.query(
      `update ${this.#table} set claimed_until = now() + $1 * interval '1 millisecond'
       where position in (
         select position from ${this.#table}
         where sent_at is null and (claimed_until is null or claimed_until < now()) and sink <> all($3)
         order by position limit $2 for update skip locked)
       returning position::text, ${jobColumns.join(', ')}`,
      [leaseMs, limit, full],
    );
    return (rows as (JobRow & { position: string })[])
      .toSorted((a, b) => Number(BigInt(a.position) - BigInt(b.position)))
      .map((row) => ({ position: row.position, job: jobOf(row) }));
  }

  async remove(positions: readonly string[]): Promise<void> {
    await this.#pool.query(`delete from ${this.#table} where position = any($1::bigint[])`, [
      positions,
    ]);
  }

  async keep(positions: readonly string[], generation: string): Promise<void> {
    await this.#pool.query(
      `update ${this.#table} set sent_at = now(), sent_to = $1, claimed_until = null
       where position = any($2::bigint[])`,
      [generation, positions],
    );
  }

  async resend(sink: string, generation: string): Promise<void> {
    await this.#pool.query(
      `update ${this.#table} set sent_at = null, sent_to = null
       where sink = $1 and sent_at is not null and sent_to <> $2`,
      [sink, generation],
    );
  }

  async forget(sink: string, generation: string, keptMs: number): Promise<void> {
    await this.#pool.query(
      `delete from ${this.#table}
       where sink = $1 and sent_to = $2 and sent_at < now() - $3 * interval '1 millisecond'`,
      [sink, generation, keptMs],
    );
  }

  async sinksWithKept(): Promise<string[]> {
    const { rows } = await this.#pool.query(
      `select distinct sink from ${this.#table} where sent_at is not null`,
    );
    return (rows as { sink: string }[]).map(({ sink }) => sink);
  }

  async renew(positions: readonly string[], leaseMs: number): Promise<void> {
    await this.#pool.query(
      `update ${this.#table} set claimed_until = now() + $1 * interval '1 millisecond'
       where position = any($2::bigint[])`,
      [leaseMs, positions],
    );
  }

  async release(positions: readonly string[]): Promise<void> {
    await this.#pool.query(
      `update ${this.#table} set claimed_until = null where position = any($1::bigint[])`,
      [positions],
    );
  }
}

/** Returns the statement that creates the outbox's table, for a migration. */
export function outboxTable(table = 'defer_outbox'): string {
  return `create table if not exists ${quoteTable(table)} (
  position bigint generated always as identity primary key,
  id text not null unique,
  sink text not null,
  job text not null,
  key text,
  data text not null,
  deferred_at_ms bigint not null,
  context text,
  options text,
  claimed_until timestamptz,
  sent_at timestamptz,
  sent_to text
)`;
}
