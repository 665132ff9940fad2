import { levelError } from '../errors.ts';
import {
  affectedBy,
  type MariadbPool,
  executeIn,
  refused,
  type Execute,
} from '../mariadb/connection.ts';
import { MariadbStore, outboxTable } from '../mariadb/outbox-store.ts';
import type { Outbox, OutboxHost, OutboxJob, OutboxTransaction } from '../outbox.ts';
import { CommitWatch } from '../relay/commit-watch.ts';
import { jobColumns, valuesOf } from '../relay/store.ts';
import { outboxOptionNames, relayOptions, type OutboxOptions, Relay } from '../relay/relay.ts';
import { quoteTable } from '../transactions/table.ts';
import { refuseUnknown } from '../validate.ts';

export { outboxTable } from '../mariadb/outbox-store.ts';
export type { MariadbConnection, MariadbPool, PooledConnection } from '../mariadb/connection.ts';

export interface MariadbOutboxOptions extends OutboxOptions {
  /** The pool of the relay, of `mysql2/promise`; you close it. */
  pool: MariadbPool;
}

/**
 * Level `outbox` in MariaDB 10.6 or newer: the job is a row of the caller's own transaction. If it is rolled back, the job was
 * never deferred; once committed, it reaches its sink, from this process or, if it dies, from another on the same table.
 *
 * @throws {DeferError} ERR_REDLINE_DEFER_OPTION
 * @example
 * ```ts
 * const deferrer = createDefer({ sinks, outbox: mariadbOutbox({ pool }) });
 * await connection.beginTransaction();
 * await connection.query('insert into orders …');
 * await deferrer.defer(sendMail, { to }, { level: 'outbox', transaction: connection }).acknowledged();
 * await connection.commit();
 * ```
 */
export function mariadbOutbox(options: MariadbOutboxOptions): Outbox {
  refuseUnknown<keyof MariadbOutboxOptions>('mariadbOutbox', options, {
    ...outboxOptionNames,
    pool: true,
  });
  return new MariadbOutbox(options);
}

class MariadbOutbox implements Outbox {
  readonly #store: MariadbStore;
  readonly #table: string;
  readonly #insert: string;
  readonly #commits: CommitWatch<string>;
  readonly #relay: Relay;

  constructor(options: MariadbOutboxOptions) {
    const { pool, table = 'defer_outbox', createTable = true } = options;
    const quoted = quoteTable(table, '`');
    this.#table = quoted;
    const columns = jobColumns.map((name) => `\`${name}\``).join(', ');
    const statement = createTable ? outboxTable(table) : undefined;
    this.#store = new MariadbStore(pool, quoted, columns, statement);
    const places = jobColumns.map(() => '?').join(', ');
    this.#insert = `insert into ${quoted} (${columns}) select ${places} from dual where @@in_transaction = 1`;
    this.#commits = new CommitWatch((ids) => this.#store.endedOf(ids));
    this.#relay = new Relay(this.#store, relayOptions(options));
  }

  /** Resolves when the table exists, or after 2 s: the relay keeps trying. */
  async open(host: OutboxHost): Promise<void> {
    this.#relay.open(host);
    await this.#store.creator.createSoon().catch(() => {});
  }

  close(): Promise<void> {
    return this.#relay.close();
  }

  async enqueue(transaction: unknown, job: OutboxJob): Promise<OutboxTransaction> {
    const execute = executeIn(transaction, job.job);
    if (!this.#store.creator.isDone) await this.#haveTable(execute, job);
    // In the same turn as the call, if the table is known: a connection runs its statements in order.
    const written = await affectedBy(execute(this.#insert, valuesOf(job)));
    if (written !== 1) throw refused(job.job, 'a connection outside of a transaction');
    this.#relay.expectCommit();
    return { isCommitted: (signal) => this.#commits.isCommitted(job.id, signal) };
  }

  /*
   * The table is created on another connection: `create table` would commit the caller's transaction. That one may end in the
   * meantime, and the next transaction of its connection is not the job's: it lacks the savepoint.
   */
  async #haveTable(execute: Execute, job: OutboxJob): Promise<void> {
    const marked = execute('savepoint redline_defer', []);
    marked.catch(() => {});
    try {
      await this.#store.creator.createSoon();
    } catch (error) {
      throw levelError(
        `The outbox's table ${this.#table} could not be created: allow its pool more than one connection, or run outboxTable() beforehand.`,
        error,
      );
    }
    try {
      await marked;
      await execute('release savepoint redline_defer', []);
    } catch (error) {
      throw levelError(
        `The transaction of "${job.job}" ended before its row was written, or was not open: await defer(…).acknowledged() before the commit, or deferrer.ready() before the first job.`,
        error,
      );
    }
  }
}
