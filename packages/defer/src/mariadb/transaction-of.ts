import { type DeferError, levelError } from '../errors.ts';
import { driverConnectionOf } from '../transactions/driver-connection.ts';
import type { MariadbConnection } from './pool.ts';

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
