import type { PostgresPool } from './pool.ts';

/** Creates a table where there is none: once, whoever asks how often. */
export class TableCreator {
  readonly #pool: PostgresPool;
  readonly #statement: string | undefined;
  #created: Promise<unknown> | undefined;
  #isDone: boolean;

  /** @param statement A `create table if not exists`; undefined where the table is somebody else's to make. */
  constructor(pool: PostgresPool, statement: string | undefined) {
    this.#pool = pool;
    this.#statement = statement;
    this.#isDone = statement === undefined;
  }

  /** True once nothing is left to be made. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** Rejects where the table can be neither found nor made; the next call tries again. */
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
}
