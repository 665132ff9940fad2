import { createHash } from 'node:crypto';
import { type DeferError, levelError } from '../errors.ts';
import type { Outbox, OutboxHost, OutboxJob, OutboxTransaction } from '../outbox.ts';
import { Listener } from '../postgres/listener.ts';
import { outboxTable, PostgresStore } from '../postgres/outbox-store.ts';
import {
  haveTableFor,
  tableCreator,
  type PostgresClient,
  type PostgresPool,
} from '../postgres/pool.ts';
import { quoteTable, type TableCreator } from '../transactions/table.ts';
import { transactionOf, type OpenTransaction } from '../postgres/transaction-of.ts';
import { CommitWatch } from '../relay/commit-watch.ts';
import { jobColumns, valuesOf } from '../relay/store.ts';
import { outboxOptionNames, relayOptions, type OutboxOptions, Relay } from '../relay/relay.ts';
import { refuseUnknown } from '../validate.ts';

export { outboxTable } from '../postgres/outbox-store.ts';

export interface PostgresOutboxOptions extends OutboxOptions {
  /** The pool of the relay. You own it. */
  pool: PostgresPool;
  /**
   * Wakes the relay by LISTEN and NOTIFY when rows are committed, on one more connection of the pool, which must have four or
   * more. An idle relay then polls only every third of `leaseMs`, for the rows of relays that died; where a pooler drops
   * notifications it polls every `pollMs`. Notifications serialise commits: turn them off if thousands of transactions a
   * second write rows.
   * @default true
   */
  listen?: boolean;
}

/**
 * Level `outbox`: the job is a row of the caller's own transaction. If it is rolled back, the job was never deferred;
 * once committed, it reaches its sink, from this process or, if it dies, from another on the same table.
 *
 * @example
 * ```ts
 * const deferrer = createDefer({ sinks, outbox: postgresOutbox({ pool }) });
 * await client.query('begin');
 * await client.query('insert into orders …');
 * await deferrer.defer(sendMail, { to }, { level: 'outbox', transaction: client }).acknowledged();
 * await client.query('commit');
 * ```
 */
export function postgresOutbox(options: PostgresOutboxOptions): Outbox {
  refuseUnknown<keyof PostgresOutboxOptions>('postgresOutbox', options, {
    ...outboxOptionNames,
    pool: true,
    listen: true,
  });
  return new PostgresOutbox(options);
}

function tooLate(job: OutboxJob): DeferError {
  return levelError(
    `The transaction of "${job.job}" ended before its row was written: await defer(…).acknowledged() before the commit, or deferrer.ready() before the first job.`,
  );
}

class PostgresOutbox implements Outbox {
  readonly #table: string;
  readonly #creator: TableCreator;
  readonly #commits: CommitWatch<string>;
  readonly #relay: Relay;
  /** The part of an insert that notifies the relay of its commit. */
  readonly #notifies: string = '';
  /** Transactions of libraries that do not report their end, and their ids. */
  readonly #proven = new WeakMap<object, string>();

  constructor(options: PostgresOutboxOptions) {
    const { pool, table = 'defer_outbox', createTable = true, listen = true } = options;
    const relaying = relayOptions(options);
    this.#table = quoteTable(table);
    this.#creator = tableCreator(pool, createTable ? outboxTable(table) : undefined);
    this.#commits = new CommitWatch((ids) => endedOf(pool, ids));
    const store = new PostgresStore(pool, this.#table, this.#creator);
    if (!listen) {
      this.#relay = new Relay(store, relaying);
      return;
    }
    const channel = `defer_${createHash('sha256').update(this.#table).digest('hex').slice(0, 16)}`;
    // As text: Prisma cannot read a void.
    this.#notifies = `, pg_notify('${channel}', '')::text`;
    this.#relay = new Relay(
      store,
      relaying,
      (notified) => new Listener(pool, `"${channel}"`, notified),
    );
  }

  /** Resolves when the table exists, or after 2 s: the relay keeps trying. */
  async open(host: OutboxHost): Promise<void> {
    this.#relay.open(host);
    await this.#creator.createSoon().catch(() => {});
  }

  close(): Promise<void> {
    return this.#relay.close();
  }

  async enqueue(transaction: unknown, job: OutboxJob): Promise<OutboxTransaction> {
    const client = transactionOf(transaction, job.job);
    // In the same turn as the call: a client runs its queries in order, awaited or not.
    const id = await this.#write(client, transaction as object, job);
    this.#relay.expectCommit();
    return { isCommitted: (signal) => this.#commits.isCommitted(id, signal) };
  }

  async #write(client: OpenTransaction, transaction: object, job: OutboxJob): Promise<string> {
    if (client.proof === undefined && this.#creator.isDone)
      return (await this.#insert(client, job))!;
    const known = this.#creator.isDone ? this.#proven.get(transaction) : undefined;
    const begun = known ?? (await this.#prove(client));
    const id = await this.#insert(client, job, begun);
    if (id === undefined) throw tooLate(job);
    this.#proven.set(transaction, id);
    return id;
  }

  /* Returns the id of the transaction; undefined if it has ended. */
  async #insert(
    client: PostgresClient,
    job: OutboxJob,
    transaction?: string,
  ): Promise<string | undefined> {
    const values = valuesOf(job);
    const columns = jobColumns.join(', ');
    const { rows } =
      transaction === undefined
        ? await client.query(
            `insert into ${this.#table} (${columns}) values ($1, $2, $3, $4, $5, $6, $7, $8)
             returning txid_current()::text as id${this.#notifies}`,
            values,
          )
        : await client.query(
            `insert into ${this.#table} (${columns})
             select $1, $2, $3, $4, $5, $6::bigint, $7, $8 where txid_current()::text = $9
             returning $9 as id${this.#notifies}`,
            [...values, transaction],
          );
    return (rows[0] as { id: string } | undefined)?.id;
  }

  /*
   * Returns the id of the transaction once the table exists. The transaction may end before the insert, and the next one of the
   * connection is not the job's. The server refuses a savepoint outside of a transaction.
   */
  async #prove(client: OpenTransaction): Promise<string> {
    const queries = ['select txid_current()::text as id'];
    if (client.proof === 'savepoint') {
      queries.unshift('savepoint redline_defer');
      queries.push('release savepoint redline_defer');
    }
    const results = queries.map((text) => client.query(text));
    for (const result of results) result.catch(() => {});
    await haveTableFor(client, this.#creator, this.#table, 'outbox');
    const rows = (await Promise.all(results)).flatMap((result) => result.rows);
    return (rows[0] as { id: string }).id;
  }
}

/* Returns the transactions that have ended: true for a commit. */
async function endedOf(
  pool: PostgresPool,
  ids: readonly string[],
): Promise<ReadonlyMap<string, boolean>> {
  const { rows } = await pool.query(
    'select id::text, txid_status(id) as status from unnest($1::bigint[]) as id',
    [ids],
  );
  const ended = new Map<string, boolean>();
  for (const { id, status } of rows as { id: string; status: string | null }[]) {
    if (status !== 'in progress') ended.set(id, status === 'committed');
  }
  return ended;
}
