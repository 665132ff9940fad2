import { untilAborted } from '../delivery/until-aborted.ts';
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
import { TableCreator, quoteTable } from '../transactions/table.ts';
import { refuseUnknown } from '../validate.ts';
import {
  affectedBy,
  isDuplicate,
  isMissingTable,
  rethrow,
  rowsOf,
  type MariadbPool,
  type PooledConnection,
  executeIn,
  refused,
} from './connection.ts';

export type { TransactionHandler } from '../inbox/inbox.ts';
export type { MariadbPool, PooledConnection } from './connection.ts';

export interface MariadbInboxOptions<Connection extends PooledConnection> extends InboxOptions {
  /** A pool of `mysql2/promise`; you close it. A handler holds one of its connections while it runs. */
  pool: MariadbPool<Connection>;
}

export type MariadbInbox<Connection> = Inbox<Connection>;

/**
 * Exactly once, for handlers that write to MariaDB: their writes commit together with a row that marks the job as done.
 * A job is identified by its name and key, or by its id if it has no key: a second job with the same name and key counts as done.
 *
 * @throws {DeferError} ERR_REDLINE_DEFER_OPTION
 * @example
 * ```ts
 * const inbox = mariadbInbox({ pool });
 * const sink = handlers({
 *   charge: inbox.once(async ({ account, cents }: Charge, connection) => {
 *     await connection.query('update accounts set cents = cents - ? where id = ?', [cents, account]);
 *   }),
 * });
 * ```
 */
export function mariadbInbox<Connection extends PooledConnection>(
  options: MariadbInboxOptions<Connection>,
): MariadbInbox<Connection> {
  refuseUnknown<keyof MariadbInboxOptions<PooledConnection>>('mariadbInbox', options, {
    ...inboxOptionNames,
    pool: true,
  });
  return new InMariadb(options);
}

class InMariadb<Connection extends PooledConnection>
  extends InboxTable
  implements MariadbInbox<Connection>
{
  readonly #pool: MariadbPool<Connection>;
  readonly #creator: TableCreator;

  constructor(options: MariadbInboxOptions<Connection>) {
    super(options, '`');
    const { pool, table, createTable = true } = options;
    this.#pool = pool;
    this.#creator = new TableCreator(createTable ? () => pool.query(inboxTable(table)) : undefined);
  }

  once<Data>(handler: TransactionHandler<Connection, Data>): Handler {
    return async (data: Data, delivery, signal) => {
      await untilAborted(this.#creator.create(), signal).catch(rethrow);
      await this.#inTransaction(signal, async (connection) => {
        const row = rowOf(delivery);
        if (!(await this.#insert(connection, row))) return;
        await handler(data, connection, delivery, signal);
        await this.#check(connection, row);
      });
      this.clean();
    };
  }

  async claim(transaction: object, delivery: Identified): Promise<boolean> {
    const execute = executeIn(transaction, delivery.job);
    const text = `insert into ${this.table} (job) select ? from dual where @@in_transaction = 1`;
    const insert = async (): Promise<boolean> => {
      if ((await affectedBy(execute(text, [rowOf(delivery)]))) === 1) return true;
      throw refused(delivery.job, 'a connection that is in no transaction');
    };
    try {
      return await insert().catch(async (error: unknown) => {
        // Another claim may have created it since this one failed; then the retry alone is needed.
        if (!isMissingTable(error)) throw error;
        await this.#creator.createSoon();
        return insert();
      });
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    } finally {
      this.clean();
    }
  }

  /* MariaDB waits for the transaction that holds the row. */
  async #insert(connection: Connection, row: string): Promise<boolean> {
    try {
      await connection.query(`insert into ${this.table} (job) values (?)`, [row]);
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      return rethrow(error);
    }
  }

  /* A deadlock rolls back the whole transaction, and a handler may ignore its error. */
  async #check(connection: Connection, row: string): Promise<void> {
    const text = `select 1 from ${this.table} where job = ?`;
    const found = await rowsOf(connection.query(text, [row])).catch(rethrow);
    if (found.length === 1) return;
    throw new Error(
      'The transaction of the job was not committed: it was rolled back in the handler, by a statement of its own or by a deadlock whose error the handler ignored.',
    );
  }

  /* If `signal` aborts first, the connection is cut, and the server rolls back. */
  async #inTransaction(
    signal: AbortSignal,
    work: (connection: Connection) => Promise<void>,
  ): Promise<void> {
    signal.throwIfAborted();
    const connection = await this.#pool.getConnection().catch(rethrow);
    const abort = (): void => connection.destroy();
    signal.addEventListener('abort', abort, { once: true });
    const own = (text: string): Promise<unknown> => connection.query(text).catch(rethrow);
    try {
      // After a rollback by the server, further statements begin another transaction instead of committing one by one.
      await own('set autocommit = 0');
      await work(connection);
      signal.throwIfAborted();
      await own('commit');
      await own('set autocommit = 1');
      connection.release();
    } catch (error) {
      connection.destroy();
      throw signal.aborted ? (signal.reason as Error) : error;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  protected removeOld(limit: number): Promise<number> {
    const text = `delete from ${this.table} where done_at < now(6) - interval ? microsecond limit ?`;
    return affectedBy(this.#pool.query(text, [this.retainMs * 1_000, limit]));
  }
}

/** Returns the statement that creates the inbox's table, for a migration. */
export function inboxTable(table = 'defer_inbox'): string {
  return `create table if not exists ${quoteTable(table, '`')} (
  job varbinary(767) not null primary key,
  done_at timestamp not null default current_timestamp,
  key done_at (done_at)
) engine = InnoDB`;
}
