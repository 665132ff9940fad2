import { createHash } from 'node:crypto';
import { identityOf } from '../delivery/identity.ts';
import { Unavailable } from '../delivery/unavailable.ts';
import { untilAborted } from '../delivery/until-aborted.ts';
import type { Delivery } from '../sink.ts';
import type { Handler } from '../handler.ts';
import { refuseUnknown, positive } from '../validate.ts';
import { inboxTable } from './inbox-table.ts';
import { quoteTable, type PostgresClient, type PostgresPool } from './pool.ts';
import { TableCreator } from './table-creator.ts';
import { transactionOf } from './transaction-of.ts';
import { inTransaction, type TransactionClient } from './transaction.ts';

export { inboxTable } from './inbox-table.ts';
export type { TransactionClient } from './transaction.ts';

/** The part of a `pg` pool that is used. */
export interface InboxPool<Client> extends PostgresPool {
  connect(): Promise<Client>;
}

export interface PostgresInboxOptions<Client> {
  /** You own it: the inbox does not close it. A handler holds one of its clients while it runs. */
  pool: InboxPool<Client>;
  /**
   * With or without a schema.
   * @default 'defer_inbox'
   */
  table?: string;
  /**
   * Whether the table is created if it does not exist; `inboxTable()` has the statements for a migration.
   * @default true
   */
  createTable?: boolean;
  /**
   * How long a row is kept, in milliseconds: longer than a job may wait for a second delivery. A later delivery runs
   * again.
   * @default 604_800_000, a week
   */
  retainMs?: number;
}

/** Does one job in a transaction, which is committed when it resolves and rolled back when it throws. */
export type TransactionHandler<Client, Data> = (
  data: Data,
  client: Client,
  delivery: Delivery,
  signal: AbortSignal,
) => unknown;

/** What makes two deliveries the same job: its name and key, or its id. */
type Identified = Pick<Delivery, 'id' | 'job' | 'key'>;

export interface PostgresInbox<Client> {
  /**
   * A handler that does each job once: the row that marks it as done commits with the handler's writes through its
   * client, and a delivery that finds the row does nothing. When the time of the job is up, the transaction is rolled
   * back with its connection.
   */
  once<Data>(handler: TransactionHandler<Client, Data>): Handler;
  /**
   * The same in the caller's own transaction, of `pg`, Knex, Drizzle or postgres.js: true if the job is still to be done in it, false if it was done before. A
   * second delivery waits until the transaction of the first has ended.
   *
   * @throws {DeferError} ERR_REDLINE_DEFER_LEVEL: the table is missing, and the pool has no client to make it with
   */
  claim(transaction: object, delivery: Identified): Promise<boolean>;
}

const optionNames = {
  pool: true,
  table: true,
  createTable: true,
  retainMs: true,
} satisfies Record<keyof PostgresInboxOptions<TransactionClient>, true>;

/**
 * Exactly once, for handlers that write to PostgreSQL: what they write and the row that says so commit together.
 * A job is what its name and key say, or else its id: a second one of the same name and key is done by the first.
 *
 * @throws {DeferError} ERR_REDLINE_DEFER_OPTION
 * @example
 * ```ts
 * const inbox = postgresInbox<PoolClient>({ pool });
 * const sink = handlers({
 *   charge: inbox.once(async ({ account, cents }: Charge, client) => {
 *     await client.query('update accounts set cents = cents - $1 where id = $2', [cents, account]);
 *   }),
 * });
 * ```
 */
export function postgresInbox<Client extends TransactionClient = TransactionClient>(
  options: PostgresInboxOptions<Client>,
): PostgresInbox<Client> {
  refuseUnknown('postgresInbox', options, optionNames);
  return new Inbox(options);
}

const weekMs = 7 * 24 * 3_600_000;
const mostBetweenCleaningsMs = 3_600_000;
const mostRemovedAtOnce = 1_000;
/** What a b-tree takes of a key is 2,704 bytes. */
const mostIdentityLength = 512;

class Inbox<Client extends TransactionClient> implements PostgresInbox<Client> {
  readonly #pool: InboxPool<Client>;
  readonly #table: string;
  readonly #creator: TableCreator;
  readonly #retainMs: number;
  #cleanAtMs = 0;

  constructor(options: PostgresInboxOptions<Client>) {
    const { pool, table = 'defer_inbox', createTable = true, retainMs = weekMs } = options;
    this.#pool = pool;
    this.#table = quoteTable(table);
    this.#creator = new TableCreator(pool, createTable ? inboxTable(table) : undefined);
    this.#retainMs = positive('retainMs', retainMs);
  }

  once<Data>(handler: TransactionHandler<Client, Data>): Handler {
    return async (data: Data, delivery, signal) => {
      await untilAborted(this.#creator.create(), signal).catch(Unavailable.rethrow);
      await inTransaction(this.#pool, signal, async (client, own) => {
        if (await own(this.#insert(client, delivery))) {
          await handler(data, client, delivery, signal);
        }
      });
      this.#clean();
    };
  }

  async claim(transaction: object, delivery: Identified): Promise<boolean> {
    const client = transactionOf(transaction, delivery.job);
    await this.#creator.haveFor(client, this.#table, 'inbox');
    const isFirst = await this.#insert(client, delivery);
    this.#clean();
    return isFirst;
  }

  async #insert(client: PostgresClient, delivery: Identified): Promise<boolean> {
    const { rowCount } = await client.query(
      `insert into ${this.#table} (job) values ($1) on conflict do nothing`,
      [rowOf(delivery)],
    );
    return rowCount === 1;
  }

  /* Now and then, beside the work; what fails is done the next time. */
  #clean(): void {
    const now = performance.now();
    if (now < this.#cleanAtMs) return;
    this.#cleanAtMs = now + Math.min(mostBetweenCleaningsMs, this.#retainMs / 2);
    this.#removeOld().catch(() => {});
  }

  async #removeOld(): Promise<void> {
    for (;;) {
      const { rowCount } = await this.#pool.query(
        `delete from ${this.#table} where ctid = any(array(
           select ctid from ${this.#table} where done_at < now() - $1 * interval '1 millisecond' limit $2))`,
        [this.#retainMs, mostRemovedAtOnce],
      );
      if (rowCount !== mostRemovedAtOnce) return;
    }
  }
}

function rowOf(delivery: Identified): string {
  const identity = identityOf(delivery);
  if (identity.length <= mostIdentityLength) return identity;
  // No identity has a colon.
  return `sha256:${createHash('sha256').update(identity).digest('hex')}`;
}
