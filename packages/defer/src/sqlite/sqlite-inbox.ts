import { Unavailable } from '../delivery/unavailable.ts';
import type { Handler } from '../sink.ts';
import {
  inboxOptionNames,
  InboxTable,
  rowOf,
  type Identified,
  type Inbox,
  type InboxOptions,
  type TransactionHandler,
} from '../inbox/inbox.ts';
import { isPromise, refuseUnknown } from '../validate.ts';
import {
  databaseOf,
  isAway,
  isInTransaction,
  type SqliteDatabase,
  inboxTable,
} from './database.ts';
import { TransactionQueue } from './transaction-queue.ts';

export { inboxTable } from './database.ts';
export type { TransactionHandler } from '../inbox/inbox.ts';
export type { SqliteDatabase } from './database.ts';

export interface SqliteInboxOptions<Database> extends InboxOptions {
  /**
   * Opens a database of `node:sqlite` or better-sqlite3 for the handlers alone. They run one after another, as SQLite has one
   * writer: one that returns a promise locks the file until that resolves. After a timeout the database is closed and opened again.
   */
  open: () => Database;
}

export interface SqliteInbox<Database> extends Inbox<Database> {
  /** Closes the database once no handler runs. */
  close(): Promise<void>;
}

/**
 * Exactly once, for handlers that write to SQLite: their writes commit together with a row that marks the job as done.
 * A job is identified by its name and key, or by its id if it has no key: a second job with the same name and key counts as done.
 *
 * @throws {DeferError} ERR_REDLINE_DEFER_OPTION
 * @example
 * ```ts
 * const inbox = sqliteInbox({ open: () => new DatabaseSync('shop.db') });
 * const sink = handlers({
 *   charge: inbox.once(({ account, cents }: Charge, database) => {
 *     database.prepare('update accounts set cents = cents - ? where id = ?').run(cents, account);
 *   }),
 * });
 * ```
 */
export function sqliteInbox<Database extends SqliteDatabase>(
  options: SqliteInboxOptions<Database>,
): SqliteInbox<Database> {
  refuseUnknown<keyof SqliteInboxOptions<SqliteDatabase>>('sqliteInbox', options, {
    ...inboxOptionNames,
    open: true,
  });
  return new InSqlite(options);
}

const now = `cast(unixepoch('subsec') * 1000 as integer)`;
const own = Unavailable.rethrowIf(isAway);

class InSqlite<Database extends SqliteDatabase>
  extends InboxTable
  implements SqliteInbox<Database>
{
  readonly #statement: string | undefined;
  readonly #transactions: TransactionQueue<Database>;

  constructor(options: SqliteInboxOptions<Database>) {
    super(options);
    const { open, table, createTable = true } = options;
    this.#statement = createTable ? inboxTable(table) : undefined;
    this.#transactions = new TransactionQueue(open);
  }

  once<Data>(handler: TransactionHandler<Database, Data>): Handler {
    return async (data: Data, delivery, signal) => {
      await this.#transactions.run(signal, (database) => {
        const row = rowOf(delivery);
        if (!claimed(() => this.#insert(database, row))) return undefined;
        const doing = handler(data, database, delivery, signal);
        if (isPromise(doing)) return Promise.resolve(doing).then(() => this.#check(database, row));
        return this.#check(database, row);
      });
      this.clean();
    };
  }

  // oxlint-disable-next-line typescript/require-await -- rejects, as the others do
  async claim(transaction: object, delivery: Identified): Promise<boolean> {
    const isFirst = this.#insert(databaseOf(transaction, delivery.job), rowOf(delivery));
    this.clean();
    return isFirst;
  }

  close(): Promise<void> {
    return this.#transactions.close();
  }

  #insert(database: SqliteDatabase, row: string): boolean {
    if (this.#statement !== undefined) database.exec(this.#statement);
    const result = database
      .prepare(
        `insert into ${this.table} (job, done_at_ms) values (?, ${now}) on conflict do nothing`,
      )
      .run(row);
    return changesOf(result) === 1;
  }

  /* SQLite rolls back a transaction by itself, for example when the disk is full. */
  #check(database: SqliteDatabase, row: string): void {
    const text = `select 1 from ${this.table} where job = ?`;
    if (isInTransaction(database) && database.prepare(text).get(row) !== undefined) return;
    throw new Error(
      'The transaction of the job was not committed: it ended in the handler, by a statement of its own or by an error that SQLite rolls back and the handler ignored.',
    );
  }

  protected removeOld(limit: number): Promise<number> {
    const text = `delete from ${this.table} where job in (
      select job from ${this.table} where done_at_ms < ${now} - ? limit ?)`;
    return this.#transactions.statement(AbortSignal.timeout(60_000), (database) =>
      changesOf(database.prepare(text).run(this.retainMs, limit)),
    );
  }
}

function changesOf(result: unknown): number {
  return Number((result as { changes: number | bigint }).changes);
}

function claimed(insert: () => boolean): boolean {
  try {
    return insert();
  } catch (error) {
    return own(error);
  }
}
