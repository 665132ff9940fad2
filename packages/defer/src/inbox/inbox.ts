import { createHash } from 'node:crypto';
import { identityOf } from '../delivery/message.ts';
import type { Handler, Delivery } from '../sink.ts';
import { quoteTable } from '../transactions/table.ts';
import { positive } from '../validate.ts';

/** Handles one job in a transaction, which is committed when it resolves and rolled back when it throws. */
export type TransactionHandler<Client, Data> = (
  data: Data,
  client: Client,
  delivery: Delivery,
  signal: AbortSignal,
) => unknown;

/** Identifies a job: by its name and key, or by its id if it has no key. */
export type Identified = Pick<Delivery, 'id' | 'job' | 'key'>;

export interface Inbox<Client> {
  /**
   * Returns a handler that handles each job once: the row that marks the job as done commits with the handler's writes through
   * its client, and a delivery that finds the row does nothing. At the job's timeout the transaction is rolled back with its
   * connection.
   */
  once<Data>(handler: TransactionHandler<Client, Data>): Handler;
  /**
   * Claims a job in the caller's own transaction, of any library that level `outbox` accepts: true if the job is still to be
   * done in it, false if it was done before. A second delivery waits until the transaction of the first has ended.
   *
   * @throws {DeferError} ERR_REDLINE_DEFER_LEVEL: it is not a transaction, or the table is missing and cannot be created
   */
  claim(transaction: object, delivery: Identified): Promise<boolean>;
}

/** The options of every inbox. */
export interface InboxOptions {
  /**
   * The table's name, with or without a schema.
   * @default 'defer_inbox'
   */
  table?: string;
  /**
   * Creates the table if it does not exist. `inboxTable()` returns the statements for a migration.
   * @default true
   */
  createTable?: boolean;
  /**
   * Time for which a row is kept, in milliseconds: longer than a job may wait for a second delivery. A later delivery runs the
   * handler again.
   * @default 604_800_000, a week
   */
  retainMs?: number;
}

export const inboxOptionNames: Readonly<Record<keyof InboxOptions, true>> = {
  table: true,
  createTable: true,
  retainMs: true,
};

/** A b-tree of PostgreSQL accepts keys of up to 2,704 bytes, one of InnoDB 3,072. */
const maxIdentityLength = 512;

/** Returns the job's key in the table: ASCII, of a bounded length. */
export function rowOf(delivery: Identified): string {
  const identity = identityOf(delivery);
  if (identity.length <= maxIdentityLength) return identity;
  // An identity never contains a colon.
  return `sha256:${createHash('sha256').update(identity).digest('hex')}`;
}

const weekMs = 604_800_000;
const maxCleaningIntervalMs = 3_600_000;
/** A longer delete would hold its locks for too long. */
const maxRemovedAtOnce = 1_000;

/** The table of an inbox, whose old rows are removed. */
export abstract class InboxTable {
  /** Quoted. */
  protected readonly table: string;
  protected readonly retainMs: number;
  #cleanedUntilMs = 0;

  /** @throws {DeferError} ERR_REDLINE_DEFER_OPTION */
  constructor({ table = 'defer_inbox', retainMs = weekMs }: InboxOptions, quote?: '`') {
    this.table = quoteTable(table, quote);
    this.retainMs = positive('retainMs', retainMs);
  }

  /** Removes up to `limit` rows older than `retainMs`, and returns how many. */
  protected abstract removeOld(limit: number): Promise<number | null>;

  /** Removes old rows occasionally, alongside the work. After a failure they are left for the next time. */
  protected clean(): void {
    const now = performance.now();
    if (now < this.#cleanedUntilMs) return;
    this.#cleanedUntilMs = now + Math.min(maxCleaningIntervalMs, this.retainMs / 2);
    this.#removeAll().catch(() => {});
  }

  async #removeAll(): Promise<void> {
    while ((await this.removeOld(maxRemovedAtOnce)) === maxRemovedAtOnce);
  }
}
