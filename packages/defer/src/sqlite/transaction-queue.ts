import { setTimeout as sleep } from 'node:timers/promises';
import { Unavailable } from '../delivery/unavailable.ts';
import { untilAborted } from '../delivery/until-aborted.ts';
import { isAway, isBusy, isInTransaction, type SqliteDatabase } from './database.ts';

const retryMs = 5;
const own = Unavailable.rethrowIf(isAway);

/** Runs transactions on a database of their own, one after another. */
export class TransactionQueue<Database extends SqliteDatabase> {
  readonly #open: () => Database;
  #database: Database | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(open: () => Database) {
    this.#open = open;
  }

  /**
   * Runs `work` in a transaction, and commits it: in one turn, if `work` returns no promise. If `signal` aborts first, the
   * database is closed: that rolls back, and a handler that still runs can write nothing more.
   *
   * @throws {Unavailable} the file cannot be used; or the error of `work`
   */
  async run(signal: AbortSignal, work: (database: Database) => unknown): Promise<void> {
    await this.#inTurn(signal, async () => {
      const database = this.#opened();
      try {
        await whenFree(() => database.exec('begin immediate'), signal);
        const doing = work(database);
        if (doing instanceof Promise) {
          await untilAborted(doing, signal);
          signal.throwIfAborted();
        }
        await whenFree(() => database.exec('commit'), signal);
      } catch (error) {
        if (signal.aborted) this.#drop();
        else this.#rollBack(database);
        throw error;
      }
    });
  }

  /** Runs one statement between the transactions. */
  async statement<T>(signal: AbortSignal, work: (database: Database) => T): Promise<T> {
    return this.#inTurn(signal, () => {
      const database = this.#opened();
      return whenFree(() => work(database), signal);
    });
  }

  async close(): Promise<void> {
    await this.#last;
    this.#drop();
  }

  async #inTurn<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const turn = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = turn.then(() => promise);
    try {
      await untilAborted(turn, signal);
      return await work();
    } finally {
      resolve();
    }
  }

  #opened(): Database {
    if (this.#database !== undefined) return this.#database;
    try {
      const database = this.#open();
      // SQLite's own wait would stop the event loop, and with it the transaction of this process for which it waits.
      database.exec('pragma busy_timeout = 0');
      return (this.#database = database);
    } catch (error) {
      return own(error);
    }
  }

  #rollBack(database: Database): void {
    try {
      if (isInTransaction(database)) database.exec('rollback');
      // A handler may have closed the database.
      else database.prepare('select 1');
    } catch {
      this.#drop();
    }
  }

  #drop(): void {
    try {
      this.#database?.close();
    } catch {
      // Closed by the handler.
    }
    this.#database = undefined;
  }
}

async function whenFree<T>(work: () => T, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error)) own(error);
    }
    await sleep(retryMs, undefined, { signal }).catch(() => {});
    signal.throwIfAborted();
  }
}
