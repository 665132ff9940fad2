import { levelError } from '../errors.ts';
import { maxTableWaitMs, TableCreator } from '../transactions/table-creator.ts';

export interface PostgresResult {
  rows: unknown[];
  rowCount: number | null;
  /** The server's command tag: `COMMIT` or, in response to a commit, `ROLLBACK`. */
  command?: string;
}

/** The part of a `pg` client that is used: a transaction's, or a pool's. */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<PostgresResult>;
}

/** A `pg` pool: each query borrows a connection and returns it. */
export type PostgresPool = PostgresClient;

/** @param statement A `create table if not exists`; undefined if the caller creates the table. */
export function tableCreator(pool: PostgresPool, statement: string | undefined): TableCreator {
  if (statement === undefined) return new TableCreator(undefined);
  // Two sessions that create it at the same moment, here or in another process, collide in the catalogue with one
  // of several codes, a broken constraint among them. The second has waited for the first, and now finds the table.
  return new TableCreator(() => pool.query(statement).catch(() => pool.query(statement)));
}

/**
 * Ensures that the table exists for a transaction of the caller's. Creates it outside of the transaction, whose rollback
 * would remove it.
 *
 * @throws {DeferError} ERR_REDLINE_DEFER_LEVEL
 */
export async function haveTableFor(
  client: PostgresClient,
  creator: TableCreator,
  table: string,
  what: 'outbox' | 'inbox',
): Promise<void> {
  if (creator.isDone) return;
  const text = 'select to_regclass($1::text) is not null as there';
  const { rows } = await client.query(text, [table]);
  if ((rows[0] as { there: boolean }).there) return;
  try {
    await creator.createSoon();
  } catch (error) {
    if ((error as Error).name !== 'TimeoutError') throw error;
    throw levelError(
      `The ${what}'s table ${table} does not exist, and its pool had no client within ${maxTableWaitMs} ms to create it: allow the pool more than one, or run ${what}Table() beforehand.`,
    );
  }
}
