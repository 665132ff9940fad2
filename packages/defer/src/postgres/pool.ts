import { levelError } from '../errors.ts';
import { maxTableWaitMs, TableCreator } from '../transactions/table.ts';
import { Unavailable } from '../delivery/unavailable.ts';

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

/** A `pg` client that a pool has lent. */
export interface TransactionClient extends PostgresClient {
  /** Given an error, ends the connection instead of returning it to the pool. */
  release(error?: Error | boolean): void;
  /** Known to newer versions of `pg`: `I` outside of a transaction. */
  getTransactionStatus?(): string | null;
  on(event: 'error', listener: (error: Error) => void): unknown;
  off(event: 'error', listener: (error: Error) => void): unknown;
}

/** Marks a query that is not the app's own: its failure is the database's. */
export type Own = <T>(query: Promise<T>) => Promise<T>;

/**
 * Does `work` in a transaction on a client of its own. If `signal` aborts first, the connection is cut, so that the server rolls
 * back: the caller has given up, and the work must not be committed afterwards.
 *
 * @throws {Unavailable} the database is; or the error of `work`
 */
export async function inTransaction<Client extends TransactionClient>(
  pool: { connect(): Promise<Client> },
  signal: AbortSignal,
  work: (client: Client, own: Own) => Promise<void>,
): Promise<void> {
  signal.throwIfAborted();
  const client = await pool.connect().catch(Unavailable.rethrow);
  let broken: Error | undefined;
  let isReleased = false;
  const release = (error?: Error): void => {
    if (isReleased) return;
    isReleased = true;
    signal.removeEventListener('abort', abort);
    if (error === undefined) client.off('error', breaks);
    client.release(error);
  };
  const abort = (): void => release(signal.reason as Error);
  // A connection that dies while no query runs emits this; without a listener the process would end.
  const breaks = (error: Error): void => void (broken = error);
  client.on('error', breaks);
  const own: Own = (query) => query.catch(Unavailable.rethrow);
  try {
    signal.addEventListener('abort', abort, { once: true });
    signal.throwIfAborted();
    await own(client.query('begin'));
    await work(client, own);
    signal.throwIfAborted();
    // Outside of a transaction the server commits nothing, but responds with the tag of a commit.
    if (client.getTransactionStatus?.() === 'I') throw endedByHandler();
    // If a commit fails, the next delivery finds out if it has happened.
    const { command } = await own(client.query('commit'));
    // The server responds to it without an error if an earlier query has failed.
    if (command !== undefined && command !== 'COMMIT') throw rolledBack(command);
    release();
  } catch (error) {
    if (!isReleased) await rollBack(client, release);
    throw broken === undefined || signal.aborted ? error : new Unavailable(broken);
  }
}

function endedByHandler(): Error {
  return new Error(
    'The transaction of the job was not committed: the handler ended it by a statement of its own ("commit" or "rollback"). Leave both to the inbox, and throw to roll back.',
  );
}

function rolledBack(command: string): Error {
  return new Error(
    `The transaction of the job was not committed (${command}): a query in it failed, and the handler ignored the error. PostgreSQL takes nothing of a transaction with a failed query; put one that may fail into a nested transaction ("savepoint"), or use "on conflict".`,
  );
}

async function rollBack(
  client: TransactionClient,
  release: (error?: Error) => void,
): Promise<void> {
  try {
    await client.query('rollback');
    release();
  } catch (error) {
    release(error as Error);
  }
}
