import { Unavailable } from '../delivery/unavailable.ts';
import type { PostgresClient } from './pool.ts';

/** A `pg` client that a pool has lent. */
export interface TransactionClient extends PostgresClient {
  /** With an error it is not lent again, and its connection ends. */
  release(error?: Error | boolean): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
  off(event: 'error', listener: (error: Error) => void): unknown;
}

/** Marks a query that is not the app's own: its failure is the database's. */
export type Own = <T>(query: Promise<T>) => Promise<T>;

/**
 * Does `work` in a transaction of a client of its own. Where `signal` aborts first, the connection is cut, and the
 * server rolls back: what is not waited for any longer must not be done in the end.
 *
 * @throws {Unavailable} the database is; or what `work` throws
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
  // A connection that dies while no query runs says so here, and without a listener the process would end.
  const breaks = (error: Error): void => void (broken = error);
  client.on('error', breaks);
  const own: Own = (query) => query.catch(Unavailable.rethrow);
  try {
    signal.addEventListener('abort', abort, { once: true });
    signal.throwIfAborted();
    await own(client.query('begin'));
    await work(client, own);
    signal.throwIfAborted();
    // Whether a commit that fails has happened, the next delivery finds out.
    const { command } = await own(client.query('commit'));
    // The server responds to it without an error when a query before it has failed.
    if (command !== undefined && command !== 'COMMIT') throw rolledBack(command);
    release();
  } catch (error) {
    if (!isReleased) await rollBack(client, release);
    throw broken === undefined || signal.aborted ? error : new Unavailable(broken);
  }
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
