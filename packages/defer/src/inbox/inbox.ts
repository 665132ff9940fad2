import { createHash } from 'node:crypto';
import { identityOf } from '../delivery/message.ts';
import type { Handler, Delivery } from '../sink.ts';
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

const weekMs = 604_800_000;

/** The options with their defaults. */
export interface ResolvedInbox {
  /** Quoted. */
  readonly table: string;
  /** The statements that create the table, unless the caller does. */
  readonly statement: string | undefined;
  readonly retainMs: number;
}

/**
 * @param quote Quotes a table's name.
 * @param statementOf Returns the statements that create it.
 * @throws {DeferError} ERR_REDLINE_DEFER_OPTION
 */
export function resolveInbox(
  { table = 'defer_inbox', createTable = true, retainMs = weekMs }: InboxOptions,
  quote: (table: string) => string,
  statementOf: (table: string) => string,
): ResolvedInbox {
  return {
    table: quote(table),
    statement: createTable ? statementOf(table) : undefined,
    retainMs: positive('retainMs', retainMs),
  };
}

/** A b-tree of PostgreSQL accepts keys of up to 2,704 bytes, one of InnoDB 3,072. */
const maxIdentityLength = 512;

/** Returns the job's key in the table: ASCII, of a bounded length. */
export function rowOf(delivery: Identified): string {
  const identity = identityOf(delivery);
  if (identity.length <= maxIdentityLength) return identity;
  // An identity never contains a colon.
  return `sha256:${createHash('sha256').update(identity).digest('hex')}`;
}

const maxCleaningIntervalMs = 3_600_000;
/** A longer delete would hold its locks for too long. */
const maxRemovedAtOnce = 1_000;

/** Removes old rows occasionally, alongside the work. After a failure they are left for the next time. */
export class Cleaning {
  readonly #betweenMs: number;
  readonly #remove: (limit: number) => Promise<number | null>;
  #nextAtMs = 0;

  /** @param remove Removes up to `limit` rows older than `retainMs`, and returns how many. */
  constructor(retainMs: number, remove: (limit: number) => Promise<number | null>) {
    this.#betweenMs = Math.min(maxCleaningIntervalMs, retainMs / 2);
    this.#remove = remove;
  }

  look(): void {
    const now = performance.now();
    if (now < this.#nextAtMs) return;
    this.#nextAtMs = now + this.#betweenMs;
    this.#removeAll().catch(() => {});
  }

  async #removeAll(): Promise<void> {
    while ((await this.#remove(maxRemovedAtOnce)) === maxRemovedAtOnce);
  }
}
