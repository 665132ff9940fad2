import type { Clock } from '../clock.ts';
import type { AcknowledgementListener, PendingJob } from '../sink-queue/pending-job.ts';
import type { OutboxTransaction } from '../outbox.ts';
import { notCommitted, rolledBack } from './refusals.ts';

/** Gives up on jobs that take too long: all have the same limit, so one timer is enough. */
export class AcknowledgeLimit<T extends object> {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #isOver: (item: T) => void;
  /** In the order in which they expire. */
  readonly #waiting = new Map<T, number>();
  #isTimed = false;

  constructor(clock: Clock, limitMs: number, isOver: (item: T) => void) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#isOver = isOver;
  }

  watch(item: T): void {
    this.#waiting.set(item, this.#clock.now() + this.#limitMs);
    if (!this.#isTimed) this.#lookIn(this.#limitMs);
  }

  forget(item: T): void {
    if (this.#waiting.size > 0) this.#waiting.delete(item);
  }

  #lookIn(ms: number): void {
    this.#isTimed = true;
    this.#clock.after(ms, () => this.#look(), false);
  }

  #look(): void {
    this.#isTimed = false;
    const now = this.#clock.now();
    for (const [item, endMs] of this.#waiting) {
      if (endMs > now) return this.#lookIn(endMs - now);
      this.#waiting.delete(item);
      this.#isOver(item);
    }
  }
}

export interface CommitHost {
  readonly clock: Clock;
  /** Maximum time for which a response waits for a transaction, in milliseconds. */
  readonly limitMs: number;
  /** Reports a transaction that has not ended in time. */
  tookTooLong(error: Error): void;
}

/** The commit of a job of level `outbox`. The database is queried only if a response waits for it. */
export class Commit {
  readonly #job: PendingJob;
  readonly #row: Promise<OutboxTransaction | void>;
  readonly #host: CommitHost;
  #outcome: Promise<unknown> | undefined;

  /** @param row Resolves when the row is written. */
  constructor(job: PendingJob, row: Promise<OutboxTransaction | void>, host: CommitHost) {
    this.#job = job;
    this.#row = row;
    this.#host = host;
  }

  /** Notifies `listener` once: of the commit or, with an error, of anything else. */
  whenSettled(listener: AcknowledgementListener): void {
    this.#outcome ??= this.#look().then(
      () => undefined,
      (error: unknown) => error,
    );
    void this.#outcome.then((error) => listener.acknowledged(error));
  }

  async #look(): Promise<void> {
    const { clock, limitMs } = this.#host;
    const isOver = new AbortController();
    const timer = clock.after(limitMs, () => isOver.abort(), false);
    const { promise: late, reject } = Promise.withResolvers<never>();
    isOver.signal.addEventListener('abort', () => reject(notCommitted(this.#job, limitMs)));
    try {
      const isCommitted = await Promise.race([this.#ask(isOver.signal), late]);
      if (!isCommitted) throw rolledBack(this.#job);
    } catch (error) {
      if (isOver.signal.aborted) this.#host.tookTooLong(error as Error);
      throw error;
    } finally {
      timer.cancel();
    }
  }

  async #ask(signal: AbortSignal): Promise<boolean> {
    const transaction = await this.#row;
    return transaction === undefined || transaction.isCommitted(signal);
  }
}
