import { setTimeout as sleep } from 'node:timers/promises';
import { jobColumns, jobOf, type JobRow, OutboxTable, type OutboxRow } from '../relay/store.ts';
import {
  isBusy,
  isInTransaction,
  isMissingTable,
  withoutWaiting,
  type SqliteDatabase,
} from './database.ts';

const retryMs = 5;
const maxBusyMs = 5_000;

/** The outbox's table in SQLite. Its statements wait while its database is in a transaction: they would be part of it. */
export class SqliteStore extends OutboxTable {
  readonly #database: SqliteDatabase;
  readonly #statement: string | undefined;
  #isCreated: boolean;

  constructor(database: SqliteDatabase, table: string, statement: string | undefined) {
    super(table, {
      now: `cast(unixepoch('subsec') * 1000 as integer)`,
      duration: '?',
      among: 'in (select cast(value as integer) from json_each(?))',
      times: '_ms',
    });
    this.#database = database;
    this.#statement = statement;
    this.#isCreated = statement === undefined;
  }

  get database(): SqliteDatabase {
    return this.#database;
  }

  /** Creates the table within the caller's transaction, whose rollback removes it again; undefined once the table is committed. */
  get missingTable(): string | undefined {
    return this.#isCreated ? undefined : this.#statement;
  }

  async create(): Promise<void> {
    if (this.#isCreated) return;
    await this.#alone(() => this.#database.exec(this.#statement!));
    this.#isCreated = true;
  }

  async take(limit: number, leaseMs: number, full: readonly string[]): Promise<OutboxRow[]> {
    await this.clean();
    const free = `${this.free} and sink not in (select value from json_each(?))`;
    const sinks = JSON.stringify(full);
    // An update locks the file even if it finds nothing.
    const found = await this.read(`select 1 from ${this.table} where ${free} limit 1`, [sinks]);
    if (found.length === 0) return [];
    const rows = await this.read(
      `update ${this.table} set ${this.leased} where position in (
         select position from ${this.table} where ${free} order by position limit ?)
       returning position, ${jobColumns.join(', ')}`,
      [leaseMs, sinks, limit],
    );
    return (rows as (JobRow & { position: number | bigint })[])
      .toSorted((a, b) => Number(a.position) - Number(b.position))
      .map((row) => ({ position: String(row.position), job: jobOf(row) }));
  }

  /** True if the row is committed; undefined while this database is in a transaction itself. */
  hasRow(id: string): boolean | undefined {
    if (isInTransaction(this.#database)) return undefined;
    try {
      const text = `select 1 from ${this.table} where id = ?`;
      const find = (): unknown => this.#database.prepare(text).get(id);
      return withoutWaiting(this.#database, find) !== undefined;
    } catch (error) {
      // The table was rolled back with the row.
      if (isMissingTable(error)) return false;
      throw error;
    }
  }

  protected run(text: string, values: readonly unknown[]): Promise<unknown> {
    return this.#alone(() => this.#database.prepare(text).run(...values));
  }

  protected read(text: string, values: readonly unknown[]): Promise<unknown[]> {
    return this.#alone(() => this.#database.prepare(text).all(...values));
  }

  protected listOf(positions: readonly string[]): string {
    return JSON.stringify(positions);
  }

  async #alone<T>(work: () => T): Promise<T> {
    const giveUpAtMs = performance.now() + maxBusyMs;
    for (;;) {
      const isLate = performance.now() > giveUpAtMs;
      try {
        if (!isInTransaction(this.#database)) return withoutWaiting(this.#database, work);
        if (isLate) {
          throw new Error(
            `The database of the outbox has been in a transaction for ${maxBusyMs} ms: give the relay a database of its own.`,
          );
        }
      } catch (error) {
        if (isLate || !isBusy(error)) throw error;
      }
      await sleep(retryMs);
    }
  }
}
