import { Unavailable } from '../delivery/unavailable.ts';
import { type DeferError, levelError } from '../errors.ts';
import { driverConnectionOf } from '../transactions/driver-connection.ts';

/** A connection of `mysql2/promise`: a transaction's, or one that a pool has lent. */
export interface MariadbConnection {
  // oxlint-disable-next-line typescript/no-explicit-any -- mysql2 has types of its own for values and results
  query(text: string, values?: any): Promise<any>;
  // oxlint-disable-next-line typescript/no-explicit-any
  execute(text: string, values?: any): Promise<any>;
}

export interface PooledConnection extends MariadbConnection {
  release(): void;
  /** Ends the connection, and with it its transaction. */
  destroy(): void;
}

/** A pool of `mysql2/promise`. */
export interface MariadbPool<Connection extends PooledConnection = PooledConnection> {
  // oxlint-disable-next-line typescript/no-explicit-any
  query(text: string, values?: any): Promise<any>;
  getConnection(): Promise<Connection>;
}

export async function rowsOf(result: Promise<unknown>): Promise<unknown[]> {
  const [rows] = (await result) as [unknown[]];
  return rows;
}

export async function affectedBy(result: Promise<unknown>): Promise<number> {
  const [{ affectedRows }] = (await result) as [{ affectedRows: number }];
  return affectedRows;
}

/** Returns the connection after `work`, or destroys it if that has failed: a transaction may be open on it. */
export async function withConnection<Connection extends PooledConnection, T>(
  pool: MariadbPool<Connection>,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await pool.getConnection();
  try {
    const result = await work(connection);
    connection.release();
    return result;
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

const duplicate = 1062;
const noSuchTable = 1146;
/*
 * Lock wait timeout, deadlock; full disk or table; too many connections; a server that shuts down or is read-only; a
 * killed connection.
 */
const awayCodes = new Set([1205, 1213, 1021, 1114, 1040, 1053, 1290, 1927]);

export function isDuplicate(error: unknown): boolean {
  return numberOf(error) === duplicate;
}

export function isMissingTable(error: unknown): boolean {
  return numberOf(error) === noSuchTable;
}

/** True if the server, its disk or a lock is at fault, not the statement. */
export function isAway(error: unknown): boolean {
  const { sqlState } = (error ?? {}) as { sqlState?: unknown };
  if (typeof sqlState !== 'string' || sqlState === '') return true;
  return sqlState.startsWith('08') || awayCodes.has(numberOf(error));
}

/** @throws {Unavailable} if `isAway` says so; otherwise the error itself */
export const rethrow: (error: unknown) => never = Unavailable.rethrowIf(isAway);

function numberOf(error: unknown): number {
  const { errno } = (error ?? {}) as { errno?: unknown };
  return typeof errno === 'number' ? errno : -1;
}

/** mysql2: a connection can begin a transaction, and a pool lends one. */
interface Mysql2Shape extends MariadbConnection {
  readonly getConnection?: unknown;
  beginTransaction(): unknown;
  /** Returns the same connection with promises, in the API with callbacks. */
  promise?(): MariadbConnection;
}

interface KnexShape {
  readonly isTransaction?: boolean;
  isCompleted?(): boolean;
  raw(text: string, values: readonly unknown[]): PromiseLike<unknown>;
}

/** Runs a statement in the transaction, in the turn of the call if the library allows it. */
export type Execute = (text: string, values: readonly unknown[]) => Promise<unknown>;

/**
 * Finds the function that runs statements in the caller's transaction. Only the server knows if one is open.
 *
 * @throws {DeferError} ERR_REDLINE_DEFER_LEVEL: it is not a connection or a transaction of a library
 */
export function executeIn(given: unknown, job: string): Execute {
  const refuse = (what: string): DeferError => refused(job, what);
  const client = driverConnectionOf(given, refuse);
  if (isKnex(client)) {
    if (client.isTransaction !== true) throw refuse('a Knex instance without a transaction');
    if (client.isCompleted?.() === true) throw refuse('a transaction of Knex that has ended');
    return async (text, values) => client.raw(...withNames(text, values));
  }
  if (!isMysql2(client)) throw refuse(client === null ? 'null' : `of type ${typeof client}`);
  if (client.getConnection !== undefined) {
    throw refuse('a pool, which runs each query on any of its connections');
  }
  const connection = client.promise?.() ?? client;
  return (text, values) => connection.execute(text, [...values]);
}

export function refused(job: string, what: string): DeferError {
  return levelError(
    `The transaction of "${job}" is ${what}: it must be the mysql2 connection on which "begin" was run, or the transaction of Knex, Drizzle, TypeORM or Sequelize on MariaDB.`,
  );
}

const nameOrValue = /`((?:[^`]|``)*)`|\?/g;

/* Knex takes a question mark in a name for a value, so such a name becomes a value itself. */
function withNames(text: string, values: readonly unknown[]): [string, unknown[]] {
  const bindings: unknown[] = [];
  let at = 0;
  const bound = text.replaceAll(nameOrValue, (found, name?: string) => {
    if (name?.includes('?') === false) return found;
    bindings.push(name === undefined ? values[at++] : name.replaceAll('``', '`'));
    return name === undefined ? '?' : '??';
  });
  return [bound, bindings];
}

function isKnex(given: unknown): given is KnexShape {
  return typeof given === 'function' && 'raw' in given && 'isTransaction' in given;
}

function isMysql2(given: unknown): given is Mysql2Shape {
  if (typeof given !== 'object' || given === null) return false;
  const { execute, query } = given as Partial<Mysql2Shape>;
  return typeof execute === 'function' && typeof query === 'function';
}
