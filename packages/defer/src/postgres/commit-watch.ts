import { setTimeout as sleep } from 'node:timers/promises';
import { untilAborted } from '../delivery/until-aborted.ts';
import type { PostgresPool } from './pool.ts';

const firstMs = 1;
const longestMs = 50;

/**
 * Asks the database how transactions have ended: all of them in one query, as long as one is open. A client's own commit
 * would have to be watched in each of its libraries, and PostgreSQL answers one without an error that rolls back.
 */
export class CommitWatch {
  readonly #pool: PostgresPool;
  readonly #waiting = new Map<string, PromiseWithResolvers<boolean>>();
  #isAsking = false;
  #waitMs = firstMs;

  constructor(pool: PostgresPool) {
    this.#pool = pool;
  }

  /** Resolves with true when the transaction of this id is committed, with false when it is rolled back. */
  async isCommitted(transaction: string, signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    let waiting = this.#waiting.get(transaction);
    if (waiting === undefined) {
      this.#waiting.set(transaction, (waiting = Promise.withResolvers()));
      signal.addEventListener('abort', () => this.#waiting.delete(transaction));
    }
    this.#waitMs = firstMs;
    if (!this.#isAsking) void this.#ask();
    return untilAborted(waiting.promise, signal);
  }

  async #ask(): Promise<void> {
    this.#isAsking = true;
    while (this.#waiting.size > 0) {
      // An outage of the database may end before the time of the responses does.
      await this.#look().catch(() => {});
      if (this.#waiting.size === 0) break;
      await sleep(this.#waitMs);
      this.#waitMs = Math.min(longestMs, this.#waitMs * 2);
    }
    this.#isAsking = false;
  }

  async #look(): Promise<void> {
    const { rows } = await this.#pool.query(
      'select id::text, txid_status(id) as status from unnest($1::bigint[]) as id',
      [[...this.#waiting.keys()]],
    );
    for (const { id, status } of rows as { id: string; status: string | null }[]) {
      if (status === 'in progress') continue;
      this.#waiting.get(id)?.resolve(status === 'committed');
      this.#waiting.delete(id);
    }
  }
}
