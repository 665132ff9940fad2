import { jobColumns, jobOf, OutboxTable, type JobRow, type OutboxRow } from '../relay/store.ts';
import { quoteTable, type TableCreator } from '../transactions/table.ts';
import type { PostgresPool } from './pool.ts';

/** A quoted name may contain question marks, too. */
const nameOrValue = /"(?:[^"]|"")*"|\?/g;

/** The outbox's table in PostgreSQL; times are the server's. */
export class PostgresStore extends OutboxTable {
  readonly #pool: PostgresPool;
  readonly #creator: TableCreator;

  /** @param table Quoted. */
  constructor(pool: PostgresPool, table: string, creator: TableCreator) {
    super(table, {
      now: 'now()',
      duration: "? * interval '1 millisecond'",
      among: '= any(?::bigint[])',
      times: '',
    });
    this.#pool = pool;
    this.#creator = creator;
  }

  create(): Promise<void> {
    return this.#creator.create();
  }

  async take(limit: number, leaseMs: number, full: readonly string[]): Promise<OutboxRow[]> {
    const rows = await this.read(
      `update ${this.table} set ${this.leased}
       where position in (
         select position from ${this.table} where ${this.free} and sink <> all(?)
         order by position limit ? for update skip locked)
       returning position::text, ${jobColumns.join(', ')}`,
      [leaseMs, full, limit],
    );
    return (rows as (JobRow & { position: string })[])
      .toSorted((a, b) => Number(BigInt(a.position) - BigInt(b.position)))
      .map((row) => ({ position: row.position, job: jobOf(row) }));
  }

  /* The server knows how a transaction has ended. */
  override async remove(positions: readonly string[]): Promise<void> {
    await this.run(`delete from ${this.table} where ${this.among}`, [positions]);
  }

  protected run(text: string, values: readonly unknown[]): Promise<unknown> {
    return this.read(text, values);
  }

  protected async read(text: string, values: readonly unknown[]): Promise<unknown[]> {
    let at = 0;
    const numbered = text.replaceAll(nameOrValue, (found) => (found === '?' ? `$${++at}` : found));
    return (await this.#pool.query(numbered, [...values])).rows;
  }

  protected listOf(positions: readonly string[]): readonly string[] {
    return positions;
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
