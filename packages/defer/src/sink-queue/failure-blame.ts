import type { PendingJob } from './pending-job.ts';

/** Verdict on a batch whose send failed. */
export type Blame =
  /** No job is to blame: the batch goes first again. */
  | 'sink'
  /** No job is to blame yet, and others go before it: they show whether the sink takes anything. */
  | 'unknown'
  /** The job failed alone while others arrived: it is to blame, and has failed. */
  | 'job';

/** Number of times a job alone probes whether the sink is back, until another one does. Short outages change no order. */
const patience = 3;

/**
 * Distinguishes an unavailable sink from a job that makes every send containing it fail. While sends fail, batches are
 * halved, down to one job; a job that fails alone, between others that arrive, is to blame. While nothing arrives, none is.
 */
export class FailureBlame {
  readonly #batchJobs: number;
  /** Number of successful sends. */
  #successes = 0;
  /** Jobs that failed alone: how often since others arrived, and the number of successes by then. */
  readonly #alone = new WeakMap<PendingJob, { successes: number; times: number }>();
  #maxBatchJobs = Infinity;

  constructor(batchJobs: number) {
    this.#batchJobs = batchJobs;
  }

  /** Maximum number of jobs in the next batch. */
  get maxBatchJobs(): number {
    return this.#maxBatchJobs;
  }

  succeeded(): void {
    this.#successes++;
    if (this.#maxBatchJobs * 2 >= this.#batchJobs) this.#maxBatchJobs = Infinity;
    else this.#maxBatchJobs *= 2;
  }

  failed(batch: readonly PendingJob[]): Blame {
    this.#maxBatchJobs = Math.max(1, Math.min(this.#maxBatchJobs, batch.length) >> 1);
    if (batch.length > 1) return 'sink';
    const job = batch[0]!;
    const before = this.#alone.get(job);
    if (before !== undefined && before.successes === this.#successes) {
      return ++before.times < patience ? 'sink' : 'unknown';
    }
    this.#alone.set(job, { successes: this.#successes, times: 1 });
    job.goesAlone = true;
    return before === undefined ? 'sink' : 'job';
  }
}
