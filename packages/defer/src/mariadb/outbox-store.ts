import { jobOf, type JobRow, OutboxTable, type OutboxRow } from '../relay/store.ts';
import { quoteTable, TableCreator } from '../transactions/table.ts';
import { rowsOf, withConnection, type MariadbPool } from './connection.ts';

/** The outbox's table in MariaDB; times are the server's. */
export class MariadbStore extends OutboxTable {
  readonly creator: TableCreator;
  readonly #pool: MariadbPool;
  readonly #columns: string;

  constructor(pool: MariadbPool, table: string, columns: string, statement: string | undefined) {
    super(table, {
      now: 'floor(unix_timestamp(now(3)) * 1000)',
      duration: '?',
      among: 'in (?)',
      times: '_ms',
    });
    this.#pool = pool;
    this.#columns = columns;
    this.creator = new TableCreator(
      statement === undefined ? undefined : () => pool.query(statement),
    );
  }

  create(): Promise<void> {
    return this.creator.create();
  }

  async take(limit: number, leaseMs: number, full: readonly string[]): Promise<OutboxRow[]> {
    await this.clean();
    // No sink has an empty name, and the list must not be empty.
    const sinks = ['', ...full];
    const waiting = `from ${this.table} where ${this.free} and sink not in (?)`;
    const found = await this.read(`select 1 ${waiting} limit 1`, [sinks]);
    if (found.length === 0) return [];
    const rows = await withConnection(this.#pool, async (connection) => {
      await connection.query('set transaction isolation level read committed');
      await connection.query('start transaction');
      const taken = (await rowsOf(
        connection.query(
          `select position, ${this.#columns} ${waiting} order by position limit ? for update skip locked`,
          [sinks, limit],
        ),
      )) as (JobRow & { position: number })[];
      if (taken.length > 0) {
        const positions = taken.map(({ position }) => position);
        const text = `update ${this.table} set ${this.leased} where ${this.among}`;
        await connection.query(text, [leaseMs, positions]);
      }
      await connection.query('commit');
      return taken;
    });
    return rows.map((row) => ({ position: String(row.position), job: jobOf(row) }));
  }

  /**
   * Returns the rows whose transactions have ended: true for a commit. A row that only a dirty read sees belongs to an open
   * transaction.
   */
  async endedOf(ids: readonly string[]): Promise<ReadonlyMap<string, boolean>> {
    const text = `select id from ${this.table} where id in (?)`;
    const ended = new Map<string, boolean>();
    for (const id of idsOf(await this.read(text, [ids]))) ended.set(id, true);
    const others = ids.filter((id) => !ended.has(id));
    if (others.length === 0) return ended;
    const written = await withConnection(this.#pool, async (connection) => {
      await connection.query('set transaction isolation level read uncommitted');
      return new Set(idsOf(await rowsOf(connection.query(text, [others]))));
    });
    for (const id of others) if (!written.has(id)) ended.set(id, false);
    return ended;
  }

  protected run(text: string, values: readonly unknown[]): Promise<unknown> {
    return this.#pool.query(text, values);
  }

  protected read(text: string, values: readonly unknown[]): Promise<unknown[]> {
    return rowsOf(this.#pool.query(text, values));
  }

  protected listOf(positions: readonly string[]): number[] {
    return positions.map(Number);
  }
}

function idsOf(rows: unknown[]): string[] {
  return (rows as { id: string }[]).map(({ id }) => id);
}

/** Returns the statement that creates the outbox's table, for a migration. */
export function outboxTable(table = 'defer_outbox'): string {
  return `create table if not exists ${quoteTable(table, '`')} (
  position bigint not null auto_increment primary key,
  id varchar(255) not null unique,
  sink varchar(255) not null,
  job text not null,
  \`key\` longtext,
  data longtext not null,
  deferred_at_ms bigint not null,
  context longtext,
  options longtext,
  claimed_until_ms bigint,
  sent_at_ms bigint,
  sent_to varchar(255),
  key waiting (sent_at_ms, position)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_bin`;
}
