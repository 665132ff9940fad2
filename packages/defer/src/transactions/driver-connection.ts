/*
 * Transactions of libraries are recognised by the shape of their objects: no library is a dependency. The driver's connection is
 * used directly if it can be reached: it runs queries in the order of their calls, while a library may delay one.
 */

/** Makes the error for an object that is not a transaction. */
export type Refuse = (what: string) => Error;

/** Drizzle: a transaction can be rolled back, and its session has the client of its driver. */
interface DrizzleShape {
  readonly session: { readonly client?: unknown };
  readonly rollback?: unknown;
}

/** TypeORM: the manager of a transaction has its query runner. */
interface ManagerShape {
  readonly queryRunner?: QueryRunnerShape;
  readonly createQueryRunner?: unknown;
}

interface QueryRunnerShape {
  readonly isTransactionActive: boolean;
  readonly isReleased?: boolean;
  /** Undefined until it has been connected. */
  readonly databaseConnection?: unknown;
}

/** Sequelize: a transaction keeps its connection when it has ended. */
interface SequelizeShape {
  readonly sequelize: unknown;
  readonly finished?: unknown;
  /** The transaction that a savepoint belongs to. */
  readonly parent?: SequelizeShape | null;
  /** Version 6. */
  readonly connection?: unknown;
  /** Version 7. */
  getConnectionIfExists?(): unknown;
}

/**
 * Returns the connection of the driver below a transaction of Drizzle, TypeORM or Sequelize; anything else is returned unchanged.
 *
 * @throws {Error} of `refuse`: it belongs to one of these, but is not a transaction, or has ended
 */
export function driverConnectionOf(given: unknown, refuse: Refuse): unknown {
  if (typeof given !== 'object' || given === null) return given;
  if (isDrizzle(given)) {
    if (typeof given.rollback !== 'function') throw refuse('a Drizzle database');
    return given.session.client;
  }
  if (isManager(given)) {
    if (typeof given.createQueryRunner === 'function') throw refuse('a DataSource of TypeORM');
    if (given.queryRunner === undefined) throw refuse('a manager of TypeORM without a transaction');
    return ofQueryRunner(given.queryRunner, refuse);
  }
  if (isQueryRunner(given)) return ofQueryRunner(given, refuse);
  if ('getQueryInterface' in given) throw refuse('an instance of Sequelize');
  return isSequelize(given) ? ofSequelize(given, refuse) : given;
}

function ofQueryRunner(runner: QueryRunnerShape, refuse: Refuse): unknown {
  if (runner.isReleased === true || !runner.isTransactionActive) {
    throw refuse('a query runner of TypeORM without a transaction');
  }
  const { databaseConnection } = runner;
  // `startTransaction()` was called and not awaited.
  if (databaseConnection === undefined)
    throw refuse('a query runner of TypeORM that is not connected yet');
  return databaseConnection;
}

function ofSequelize(transaction: SequelizeShape, refuse: Refuse): unknown {
  const { parent } = transaction;
  if (parent !== undefined && parent !== null) ofSequelize(parent, refuse);
  if (transaction.finished !== undefined) throw refuse('a transaction of Sequelize that has ended');
  const connection = transaction.connection ?? transaction.getConnectionIfExists?.();
  if (connection === undefined) throw refuse('a transaction of Sequelize that has not begun');
  return connection;
}

function isDrizzle(given: object): given is DrizzleShape {
  if (!('session' in given)) return false;
  return typeof given.session === 'object' && given.session !== null && 'dialect' in given;
}

function isManager(given: object): given is ManagerShape {
  return typeof (given as { getRepository?: unknown }).getRepository === 'function';
}

function isQueryRunner(given: object): given is QueryRunnerShape {
  return 'isTransactionActive' in given;
}

function isSequelize(given: object): given is SequelizeShape {
  return 'sequelize' in given && 'afterCommit' in given;
}
