import { setTimeout as sleep } from 'node:timers/promises';
import { untilAborted } from '../delivery/until-aborted.ts';

const firstMs = 1;
const longestMs = 50;

/**
 * Asks the database for the outcome of transactions, all of them at once, until each has ended. Watching the client's commit
 * instead would need code for each library, and a database may roll back a commit without an error.
 */
export class CommitWatch<Transaction> {
  readonly #look: (open: readonly Transaction[]) => Promise<ReadonlyMap<Transaction, boolean>>;
  readonly #waiting = new Map<Transaction, PromiseWithResolvers<boolean>>();
  #isAsking = false;
  #waitMs = firstMs;

  /** @param look Resolves with the transactions that have ended: true for a commit. */
  constructor(look: (open: readonly Transaction[]) => Promise<ReadonlyMap<Transaction, boolean>>) {
    this.#look = look;
  }

  /** Resolves with true when the transaction is committed, with false when it is rolled back. */
  async isCommitted(transaction: Transaction, signal: AbortSignal): Promise<boolean> {
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
      const ended = await this.#look([...this.#waiting.keys()]).catch(() => undefined);
      for (const [transaction, isCommitted] of ended ?? []) {
        this.#waiting.get(transaction)?.resolve(isCommitted);
        this.#waiting.delete(transaction);
      }
      if (this.#waiting.size === 0) break;
      await sleep(this.#waitMs);
      this.#waitMs = Math.min(longestMs, this.#waitMs * 2);
    }
    this.#isAsking = false;
  }
}
