import { DeferError } from '../errors.ts';
import type { PostgresClient, PostgresResult } from './pool.ts';

/*
 * The connection of a transaction, by the shape of what a library gives its callers. Where it can be reached it is used
 * itself: it runs its queries in the order in which it got them, and a library may keep one for later.
 */

/** `pg`: a client runs in a transaction, a pool in any. The status is known to newer versions. */
interface PgShape extends PostgresClient {
  readonly totalCount?: number;
  readonly readyForQuery?: boolean;
  readonly pipeline?: boolean;
  getTransactionStatus?(): string | null;
}

/** postgres.js: what `sql.begin()` gives has `savepoint`, and the root has `begin`. */
interface PostgresJsShape {
  readonly savepoint?: unknown;
  unsafe(text: string, values?: readonly unknown[]): { execute(): PromiseLike<PostgresJsRows> };
}

type PostgresJsRows = unknown[] & { readonly count: number | null };

interface KnexShape {
  readonly isTransaction?: boolean;
  isCompleted?(): boolean;
  raw(text: string, values: readonly unknown[]): PromiseLike<PostgresResult>;
}

/** Drizzle: a transaction can be rolled back, and its session has the client of its driver. */
interface DrizzleShape {
  readonly session: { readonly client?: unknown };
  readonly rollback?: unknown;
}

/** What runs queries in a transaction. */
export interface TransactionClient extends PostgresClient {
  /** The library does not say whether the transaction has ended: the server is asked. */
  readonly isUnproven?: boolean;
}

/**
 * What runs queries in the caller's transaction.
 *
 * @throws {DeferError} ERR_REDLINE_DEFER_LEVEL: it is none, and a row that is written outside of a transaction is committed
 * whatever becomes of the caller's work
 */
export function transactionOf(given: unknown, job: string): TransactionClient {
  if (isKnex(given)) {
    if (given.isTransaction !== true) throw refused(job, 'a Knex instance without a transaction');
    if (given.isCompleted?.() === true) throw refused(job, 'a transaction of Knex that has ended');
    return knexClient(given);
  }
  if (isPostgresJs(given)) {
    if (typeof given.savepoint !== 'function') throw refused(job, 'postgres.js outside of begin()');
    return postgresJsClient(given);
  }
  if (isDrizzle(given)) {
    if (typeof given.rollback !== 'function') throw refused(job, 'a Drizzle database');
    return transactionOf(given.session.client, job);
  }
  if (!isPg(given)) throw refused(job, given === null ? 'null' : `of type ${typeof given}`);
  if (given.totalCount !== undefined) {
    throw refused(job, 'a pool, which runs each query on any of its connections');
  }
  // A client at work may have been given its "begin" without being waited for.
  const isAtRest = given.readyForQuery === true && given.pipeline !== true;
  if (isAtRest && given.getTransactionStatus?.() === 'I') {
    throw refused(job, 'a client that is in no transaction');
  }
  return given;
}

/** A name in quotes may have question marks and dollars, too. */
const nameOrParameter = /"(?:[^"]|"")*"|\$(\d+)/g;

function knexClient(transaction: KnexShape): PostgresClient {
  return {
    async query(text, values = []) {
      const bindings: unknown[] = [];
      // Knex counts question marks, and takes one with a backslash for itself.
      const positional = text.replaceAll(nameOrParameter, (found, number?: string) => {
        if (number === undefined) return found.replaceAll('?', '\\?');
        bindings.push(values[Number(number) - 1]);
        return '?';
      });
      return transaction.raw(positional, bindings);
    },
  };
}

function postgresJsClient(sql: PostgresJsShape): TransactionClient {
  return {
    isUnproven: true,
    async query(text, values = []) {
      // It begins with `execute`, and otherwise only when somebody waits for it.
      const rows = await sql.unsafe(text, values).execute();
      return { rows: [...rows], rowCount: rows.count };
    },
  };
}

function isKnex(given: unknown): given is KnexShape {
  return typeof given === 'function' && 'raw' in given && 'isTransaction' in given;
}

function isPostgresJs(given: unknown): given is PostgresJsShape {
  return typeof given === 'function' && 'unsafe' in given;
}

function isDrizzle(given: unknown): given is DrizzleShape {
  if (typeof given !== 'object' || given === null || !('session' in given)) return false;
  return typeof given.session === 'object' && given.session !== null && 'execute' in given;
}

function isPg(given: unknown): given is PgShape {
  return (
    typeof given === 'object' &&
    given !== null &&
    typeof (given as { query?: unknown }).query === 'function'
  );
}

function refused(job: string, what: string): DeferError {
  return new DeferError(
    'ERR_REDLINE_DEFER_LEVEL',
    `The transaction of "${job}" is ${what}: it must be the pg client on which "begin" was run, or the transaction that Knex, Drizzle or postgres.js give their callback.`,
  );
}
