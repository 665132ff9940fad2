import { DeferError } from '../errors.ts';
import type { PostgresClient } from './pool.ts';

/** Tells of the transaction of a `pg` client, where that is new enough, or that it is a pool. */
interface Telling extends PostgresClient {
  readonly totalCount?: number;
  readonly readyForQuery?: boolean;
  readonly pipeline?: boolean;
  getTransactionStatus?(): string | null;
}

/**
 * A row that is written outside of a transaction is committed, whatever becomes of the caller's work.
 *
 * @throws {DeferError} ERR_REDLINE_DEFER_LEVEL
 */
export function refuseWithoutTransaction(
  client: PostgresClient & Partial<Telling>,
  job: string,
): void {
  if (client.totalCount !== undefined) {
    throw refused(job, 'a pool, which runs each query on any of its connections');
  }
  // A client at work may have been given its "begin" without being waited for.
  const isAtRest = client.readyForQuery === true && client.pipeline !== true;
  if (isAtRest && client.getTransactionStatus?.() === 'I') {
    throw refused(job, 'a client that is in no transaction');
  }
}

function refused(job: string, what: string): DeferError {
  return new DeferError(
    'ERR_REDLINE_DEFER_LEVEL',
    `The transaction of "${job}" is ${what}: it must be the client on which "begin" was run.`,
  );
}
