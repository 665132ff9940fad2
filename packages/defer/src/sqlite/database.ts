import { type DeferError, levelError } from '../errors.ts';
import { driverConnectionOf } from '../transactions/driver-connection.ts';
import { quoteTable } from '../transactions/table.ts';

/** A database of `node:sqlite` or better-sqlite3. */
export interface SqliteDatabase {
  exec(text: string): unknown;
  prepare(text: string): SqliteStatement;
  close(): unknown;
}

interface SqliteStatement {
  // oxlint-disable-next-line typescript/no-explicit-any -- the two have types of their own for values
  run(...values: any[]): unknown;
  // oxlint-disable-next-line typescript/no-explicit-any
  get(...values: any[]): unknown;
  // oxlint-disable-next-line typescript/no-explicit-any
  all(...values: any[]): unknown[];
}

interface Facts {
  /** `node:sqlite`, from Node 22.16 and 24 on. */
  readonly isTransaction?: boolean;
  /** better-sqlite3 */
  readonly inTransaction?: boolean;
}

/** Returns false for a closed database. */
export function isInTransaction(database: SqliteDatabase): boolean {
  try {
    const { isTransaction, inTransaction } = database as Facts;
    return isTransaction ?? inTransaction ?? !canBegin(database);
  } catch {
    return false;
  }
}

/* Older versions of Node lack the property, but SQLite refuses a transaction within another. */
function canBegin(database: SqliteDatabase): boolean {
  try {
    database.exec('begin');
  } catch (error) {
    if (/within a transaction/.test(String(error))) return false;
    throw error;
  }
  database.exec('rollback');
  return true;
}

/**
 * Returns the database of the caller's transaction.
 *
 * @throws {DeferError} ERR_REDLINE_DEFER_LEVEL: it is not a database, or not in a transaction
 */
export function databaseOf(given: unknown, job: string): SqliteDatabase {
  const refuse = (what: string): DeferError =>
    levelError(
      `The transaction of "${job}" is ${what}: it must be the database of node:sqlite or better-sqlite3 on which "begin" was run, or a transaction of Drizzle on one.`,
    );
  const database = driverConnectionOf(given, refuse);
  if (!isDatabase(database))
    throw refuse(database === null ? 'null' : `of type ${typeof database}`);
  if (!isInTransaction(database)) throw refuse('a database outside of a transaction');
  return database;
}

function isDatabase(given: unknown): given is SqliteDatabase {
  if (typeof given !== 'object' || given === null) return false;
  const { exec, prepare } = given as Partial<SqliteDatabase>;
  return typeof exec === 'function' && typeof prepare === 'function';
}

/**
 * Runs `work` without SQLite's own wait for a lock, which stops the event loop: the lock may be held by a transaction of this very
 * process, which then cannot end.
 */
export function withoutWaiting<T>(database: SqliteDatabase, work: () => T): T {
  const before = database.prepare('pragma busy_timeout').get() as { timeout: number };
  database.exec('pragma busy_timeout = 0');
  try {
    return work();
  } finally {
    database.exec(`pragma busy_timeout = ${before.timeout}`);
  }
}

/** True if another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return [5, 6].includes(primaryCode(error));
}

/** True if the disk or a lock is at fault, not the statement. */
export function isAway(error: unknown): boolean {
  return [5, 6, 8, 10, 13, 14].includes(primaryCode(error));
}

export function isMissingTable(error: unknown): boolean {
  return /no such table/.test(String(error));
}

const namedCodes: Readonly<Record<string, number>> = {
  BUSY: 5,
  LOCKED: 6,
  READONLY: 8,
  IOERR: 10,
  FULL: 13,
  CANTOPEN: 14,
};

/* `node:sqlite` has the number, with details in its upper bits; better-sqlite3 has the name, with details at its end. */
function primaryCode(error: unknown): number {
  const { errcode, code } = (error ?? {}) as { errcode?: unknown; code?: unknown };
  if (typeof errcode === 'number') return errcode & 0xff;
  if (typeof code !== 'string') return -1;
  return namedCodes[code.split('_')[1] ?? ''] ?? -1;
}

/** Returns the statements that create the outbox's table, for a migration. */
export function outboxTable(table = 'defer_outbox'): string {
  return `create table if not exists ${quoteTable(table)} (
  position integer primary key autoincrement,
  id text not null unique,
  sink text not null,
  job text not null,
  key text,
  data text not null,
  deferred_at_ms integer not null,
  context text,
  options text,
  claimed_until_ms integer,
  sent_at_ms integer,
  sent_to text
);
create index if not exists ${indexOf(table, 'waiting')} (sent_at_ms, position)`;
}

/** Returns the statements that create the inbox's table, for a migration. */
export function inboxTable(table = 'defer_inbox'): string {
  return `create table if not exists ${quoteTable(table)} (
  job text primary key,
  done_at_ms integer not null
);
create index if not exists ${indexOf(table, 'done_at')} (done_at_ms)`;
}

/* SQLite expects the schema before the name of the index, not before that of its table. */
function indexOf(table: string, what: string): string {
  const name = table.split('.').at(-1)!;
  return `${quoteTable(`${table}_${what}`)} on ${quoteTable(name)}`;
}
