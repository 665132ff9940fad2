import { Unavailable } from '../delivery/unavailable.ts';
import { untilAborted } from '../delivery/until-aborted.ts';
import {
  inboxOptionNames,
  InboxTable,
  rowOf,
  type Identified,
  type Inbox,
  type InboxOptions,
  type TransactionHandler,
} from '../inbox/inbox.ts';
import type { Handler } from '../sink.ts';
import { refuseUnknown } from '../validate.ts';
import {
  haveTableFor,
  tableCreator,
  type PostgresClient,
  type PostgresPool,
  inTransaction,
  type TransactionClient,
} from './pool.ts';
import { quoteTable, type TableCreator } from '../transactions/table.ts';
import { transactionOf } from './transaction-of.ts';

export type { TransactionHandler } from '../inbox/inbox.ts';
export type { TransactionClient } from './pool.ts';

/** The part of a `pg` pool that is used. */
export interface InboxPool<Client> extends PostgresPool {
  connect(): Promise<Client>;
}

export interface PostgresInboxOptions<Client> extends InboxOptions {
  /** You own it: the inbox does not close it. A handler holds one of its clients while it runs. */
  pool: InboxPool<Client>;
}

export type PostgresInbox<Client> = Inbox<Client>;

/**
 * Exactly once, for handlers that write to PostgreSQL: their writes commit together with a row that marks the job as done.
 * A job is identified by its name and key, or by its id if it has no key: a second job with the same name and key counts as done.
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
  refuseUnknown<keyof PostgresInboxOptions<TransactionClient>>('postgresInbox', options, {
    ...inboxOptionNames,
    pool: true,
  });
  return new InPostgres(options);
}

class InPostgres<Client extends TransactionClient>
  extends InboxTable
  implements PostgresInbox<Client>
{
  readonly #pool: InboxPool<Client>;
  readonly #creator: TableCreator;

  constructor(options: PostgresInboxOptions<Client>) {
    super(options);
    const { pool, table, createTable = true } = options;
    this.#pool = pool;
    this.#creator = tableCreator(pool, createTable ? inboxTable(table) : undefined);
  }

  once<Data>(handler: TransactionHandler<Client, Data>): Handler {
    return async (data: Data, delivery, signal) => {
      await untilAborted(this.#creator.create(), signal).catch(Unavailable.rethrow);
      await inTransaction(this.#pool, signal, async (client, own) => {
        if (await own(this.#insert(client, delivery))) {
          await handler(data, client, delivery, signal);
        }
      });
      this.clean();
    };
  }

  async claim(transaction: object, delivery: Identified): Promise<boolean> {
    const client = transactionOf(transaction, delivery.job);
    await haveTableFor(client, this.#creator, this.table, 'inbox');
    const isFirst = await this.#insert(client, delivery);
    this.clean();
    return isFirst;
  }

  async #insert(client: PostgresClient, delivery: Identified): Promise<boolean> {
    // Returns a row, because not every library counts them.
    const { rows } = await client.query(
      `insert into ${this.table} (job) values ($1) on conflict do nothing returning true as is_first`,
      [rowOf(delivery)],
    );
    return rows.length === 1;
  }

  protected async removeOld(limit: number): Promise<number | null> {
    const { rowCount } = await this.#pool.query(
      `delete from ${this.table} where ctid = any(array(
         select ctid from ${this.table} where done_at < now() - $1 * interval '1 millisecond' limit $2))`,
      [this.retainMs, limit],
    );
    return rowCount;
  }
}

/** Returns the statements that create the inbox's table, for a migration. */
export function inboxTable(table = 'defer_inbox'): string {
  const name = table.split('.').at(-1)!;
  return `create table if not exists ${quoteTable(table)} (
  job text primary key,
  done_at timestamptz not null default now()
);
create index if not exists ${quoteTable(`${name}_done_at`)} on ${quoteTable(table)} (done_at)`;
}
