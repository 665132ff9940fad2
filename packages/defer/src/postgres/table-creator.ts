import { setTimeout as sleep } from 'node:timers/promises';
import { DeferError } from '../errors.ts';
import type { PostgresClient, PostgresPool } from './pool.ts';

const maxTableWaitMs = 2_000;

/** Creates a table if it does not exist: once, regardless of the number of calls. */
export class TableCreator {
  readonly #pool: PostgresPool;
  readonly #statement: string | undefined;
  #created: Promise<unknown> | undefined;
  #isDone: boolean;

  /** @param statement A `create table if not exists`; undefined if the caller creates the table. */
  constructor(pool: PostgresPool, statement: string | undefined) {
    this.#pool = pool;
    this.#statement = statement;
    this.#isDone = statement === undefined;
  }

  /** True once the table is known to exist, or if the caller creates it. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** Rejects if the table can be neither found nor created; the next call tries again. */
  async create(): Promise<void> {
    if (this.#statement === undefined) return;
    const statement = this.#statement;
    // Two sessions that create it at the same moment, here or in another process, collide in the catalogue with one
    // of several codes, a broken constraint among them. The second has waited for the first, and now finds the table.
    this.#created ??= this.#pool
      .query(statement)
      .catch(() => this.#pool.query(statement))
      .catch((error: unknown) => {
        this.#created = undefined;
        throw error;
      });
    await this.#created;
    this.#isDone = true;
  }

  /** Returns false when it takes too long. */
  async createSoon(): Promise<boolean> {
    const waited = new AbortController();
    const isOver = sleep(maxTableWaitMs, false, { signal: waited.signal }).catch(() => false);
    try {
      return await Promise.race([this.create().then(() => true), isOver]);
    } finally {
      waited.abort();
    }
  }

  /**
   * Ensures that the table exists for a transaction of the caller's. Creates it outside of the transaction, whose rollback
   * would remove it. But a pool may have no other client than the caller's, and neither would ever continue.
   *
   * @throws {DeferError} ERR_REDLINE_DEFER_LEVEL
   */
  async haveFor(client: PostgresClient, table: string, what: 'outbox' | 'inbox'): Promise<void> {
    if (this.#isDone) return;
    const { rows } = await client.query('select to_regclass($1::text) is not null as there', [
      table,
    ]);
    if ((rows[0] as { there: boolean }).there || (await this.createSoon())) return;
    throw new DeferError(
      'ERR_REDLINE_DEFER_LEVEL',
      `The ${what}'s table ${table} does not exist, and its pool had no client within ${maxTableWaitMs} ms to create it: allow the pool more than one, or run ${what}Table() beforehand.`,
    );
  }
}
