import { type DeferError, levelError } from '../errors.ts';
import { driverConnectionOf } from '../transactions/driver-connection.ts';
import type { PostgresClient, PostgresResult } from './pool.ts';

/** `pg`: a client keeps to one connection, a pool does not. Newer versions know the status. */
interface PgShape extends PostgresClient {
  readonly totalCount?: number;
  readonly readyForQuery?: boolean;
  readonly pipeline?: boolean;
  getTransactionStatus?(): string | null;
}

/** postgres.js: the object that `sql.begin()` passes has `savepoint`, and the root has `begin`. */
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

/** Prisma: the client of an interactive transaction has its id; the client of the app can connect. */
interface PrismaShape {
  readonly [prismaTransaction]?: unknown;
  readonly $connect?: unknown;
  $queryRawUnsafe(text: string, ...values: readonly unknown[]): PromiseLike<unknown[]>;
}

const prismaTransaction = Symbol.for('prisma.client.transaction.id');

export interface OpenTransaction extends PostgresClient {
  /**
   * For libraries that do not know if the transaction has ended, or that run a query later than in the turn of its call: the
   * server is asked for the id of the transaction, and refuses a savepoint if none is open.
   */
  readonly proof?: 'id' | 'savepoint';
}

/**
 * Finds the client that runs queries in the caller's transaction.
 *
 * @throws {DeferError} ERR_REDLINE_DEFER_LEVEL: it is not a transaction. A row outside of one would be committed even if the
 * caller's work is rolled back
 */
export function transactionOf(given: unknown, job: string): OpenTransaction {
  const refuse = (what: string): DeferError => refused(job, what);
  const client = driverConnectionOf(given, refuse);
  if (isKnex(client)) {
    if (client.isTransaction !== true) throw refuse('a Knex instance without a transaction');
    if (client.isCompleted?.() === true) throw refuse('a transaction of Knex that has ended');
    return knexClient(client);
  }
  if (isPostgresJs(client)) {
    if (typeof client.savepoint !== 'function') throw refuse('postgres.js outside of begin()');
    return postgresJsClient(client);
  }
  if (isPrisma(client)) {
    if (client[prismaTransaction] === undefined && typeof client.$connect === 'function') {
      throw refuse('a Prisma client outside of $transaction()');
    }
    return prismaClient(client);
  }
  if (!isPg(client)) throw refuse(client === null ? 'null' : `of type ${typeof client}`);
  if (client.totalCount !== undefined) {
    throw refuse('a pool, which runs each query on any of its connections');
  }
  // A busy client may have a "begin" in its queue.
  const isAtRest = client.readyForQuery === true && client.pipeline !== true;
  if (isAtRest && client.getTransactionStatus?.() === 'I') {
    throw refuse('a client outside of a transaction');
  }
  return client;
}

/** A quoted name may contain question marks and dollars, too. */
const nameOrParameter = /"(?:[^"]|"")*"|\$(\d+)/g;

function knexClient(transaction: KnexShape): PostgresClient {
  return {
    async query(text, values = []) {
      const bindings: unknown[] = [];
      // Knex binds question marks, and takes one after a backslash literally.
      const positional = text.replaceAll(nameOrParameter, (found, number?: string) => {
        if (number === undefined) return found.replaceAll('?', '\\?');
        bindings.push(values[Number(number) - 1]);
        return '?';
      });
      return transaction.raw(positional, bindings);
    },
  };
}

function postgresJsClient(sql: PostgresJsShape): OpenTransaction {
  return {
    proof: 'savepoint',
    async query(text, values = []) {
      // Starts the query now; otherwise it would start once it is awaited.
      const rows = await sql.unsafe(text, values).execute();
      return { rows: [...rows], rowCount: rows.count };
    },
  };
}

/* Prisma runs a query some turns after its call, and runs none once it has begun to end the transaction. */
function prismaClient(transaction: PrismaShape): OpenTransaction {
  return {
    proof: 'id',
    async query(text, values = []) {
      const rows = await transaction.$queryRawUnsafe(text, ...values);
      return { rows, rowCount: rows.length };
    },
  };
}

function isKnex(given: unknown): given is KnexShape {
  return typeof given === 'function' && 'raw' in given && 'isTransaction' in given;
}

function isPostgresJs(given: unknown): given is PostgresJsShape {
  return typeof given === 'function' && 'unsafe' in given;
}

function isPrisma(given: unknown): given is PrismaShape {
  return (
    typeof given === 'object' &&
    given !== null &&
    typeof (given as { $queryRawUnsafe?: unknown }).$queryRawUnsafe === 'function'
  );
}

function isPg(given: unknown): given is PgShape {
  return (
    typeof given === 'object' &&
    given !== null &&
    typeof (given as { query?: unknown }).query === 'function'
  );
}

function refused(job: string, what: string): DeferError {
  return levelError(
    `The transaction of "${job}" is ${what}: it must be the pg client on which "begin" was run, or the transaction of Knex, Drizzle, TypeORM, Sequelize, Prisma or postgres.js.`,
  );
}
