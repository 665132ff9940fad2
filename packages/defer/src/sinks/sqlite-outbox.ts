import { levelError } from '../errors.ts';
import type { Outbox, OutboxHost, OutboxJob, OutboxTransaction } from '../outbox.ts';
import { quoteTable } from '../transactions/table.ts';
import { CommitWatch } from '../relay/commit-watch.ts';
import { jobColumns, valuesOf } from '../relay/store.ts';
import { outboxOptionNames, relayOptions, type OutboxOptions, Relay } from '../relay/relay.ts';
import {
  databaseOf,
  isInTransaction,
  type SqliteDatabase,
  outboxTable,
} from '../sqlite/database.ts';
import { SqliteStore } from '../sqlite/outbox-store.ts';
import { refuseUnknown } from '../validate.ts';

export { outboxTable } from '../sqlite/database.ts';
export type { SqliteDatabase } from '../sqlite/database.ts';

export interface SqliteOutboxOptions extends OutboxOptions {
  /**
   * The database of the relay, of `node:sqlite` or better-sqlite3: preferably one of its own on the app's file. You close it. If
   * it is the app's own, the relay waits while that is in a transaction.
   */
  database: SqliteDatabase;
}

/**
 * Level `outbox` in SQLite: the job is a row of the caller's own transaction. If it is rolled back, the job was never deferred;
 * once committed, it reaches its sink, from this process or, if it dies, from another on the same file.
 *
 * @throws {DeferError} ERR_REDLINE_DEFER_OPTION
 * @example
 * ```ts
 * const deferrer = createDefer({ sinks, outbox: sqliteOutbox({ database: new DatabaseSync('shop.db') }) });
 * database.exec('begin');
 * database.exec('insert into orders …');
 * deferrer.defer(sendMail, { to }, { level: 'outbox', transaction: database });
 * database.exec('commit');
 * ```
 */
export function sqliteOutbox(options: SqliteOutboxOptions): Outbox {
  refuseUnknown<keyof SqliteOutboxOptions>('sqliteOutbox', options, {
    ...outboxOptionNames,
    database: true,
  });
  return new SqliteOutbox(options);
}

interface Written {
  readonly database: SqliteDatabase;
  readonly id: string;
}

class SqliteOutbox implements Outbox {
  readonly #store: SqliteStore;
  readonly #insert: string;
  readonly #commits: CommitWatch<Written>;
  readonly #relay: Relay;
  /** Databases that are on the relay's file. */
  readonly #known = new WeakSet<SqliteDatabase>();

  constructor(options: SqliteOutboxOptions) {
    const { database, table = 'defer_outbox', createTable = true } = options;
    const quoted = quoteTable(table);
    this.#known.add(database);
    this.#store = new SqliteStore(database, quoted, createTable ? outboxTable(table) : undefined);
    const places = jobColumns.map(() => '?').join(', ');
    this.#insert = `insert into ${quoted} (${jobColumns.join(', ')}) values (${places})`;
    this.#commits = new CommitWatch((open) => this.#endedOf(open));
    this.#relay = new Relay(this.#store, relayOptions(options));
  }

  async open(host: OutboxHost): Promise<void> {
    this.#relay.open(host);
    await this.#store.create().catch(() => {});
  }

  close(): Promise<void> {
    return this.#relay.close();
  }

  async enqueue(transaction: unknown, job: OutboxJob): Promise<OutboxTransaction> {
    const database = databaseOf(transaction, job.job);
    this.#refuseOtherFile(database, job.job);
    const { missingTable } = this.#store;
    if (missingTable !== undefined) database.exec(missingTable);
    database.prepare(this.#insert).run(...valuesOf(job));
    this.#relay.expectCommit();
    const written = { database, id: job.id };
    return { isCommitted: (signal) => this.#commits.isCommitted(written, signal) };
  }

  /* The relay would never see the row. */
  #refuseOtherFile(database: SqliteDatabase, job: string): void {
    if (this.#known.has(database)) return;
    const [own, other] = [this.#store.database, database].map(fileOf);
    if (other === '' || own !== other) {
      throw levelError(
        `The transaction of "${job}" is in ${other || 'a database in memory'}, and the outbox in ${own || 'a database in memory'}: both must be on one file, or the same object.`,
      );
    }
    this.#known.add(database);
  }

  /* The order matters: if a transaction has ended by the first check, the second one can see its row. */
  async #endedOf(open: readonly Written[]): Promise<ReadonlyMap<Written, boolean>> {
    const ended = new Map<Written, boolean>();
    for (const written of open) {
      const isOver = !isInTransaction(written.database);
      const hasRow = this.#store.hasRow(written.id);
      if (hasRow === true || (isOver && hasRow === false)) ended.set(written, hasRow);
    }
    return ended;
  }
}

function fileOf(database: SqliteDatabase): string {
  const row = database.prepare(`select file from pragma_database_list where name = 'main'`).get();
  return (row as { file: string | null } | undefined)?.file ?? '';
}
