import { Unavailable } from '../delivery/unavailable.ts';

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
