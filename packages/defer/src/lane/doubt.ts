import type { PendingJob } from './pending-job.ts';

/** What becomes of a batch whose send failed. */
export type Blame =
  /** Nobody is to blame: it goes first again. */
  | 'sink'
  /** Nobody is to blame yet, and others go before it: they show whether the sink takes anything. */
  | 'unknown'
  /** It failed alone while others arrived: it is the job, and has failed. */
  | 'job';

/** So often a job asks alone whether the sink is back, until another one does. Short outages change no order. */
const patience = 3;

/**
 * Tells a sink that is away from a job that makes every send fail it is in. While sends fail, batches are halved, down to
 * one job; and one that fails alone, between others that arrive, is to blame. While nothing arrives at all nobody is.
 */
export class Doubt {
  readonly #batchJobs: number;
  /** Of sends. */
  #successes = 0;
  /** Jobs that failed alone: how often since others arrived, and how many had by then. */
  readonly #alone = new WeakMap<PendingJob, { successes: number; times: number }>();
  #limit = Infinity;

  constructor(batchJobs: number) {
    this.#batchJobs = batchJobs;
  }

  /** The most jobs for the next batch. */
  get limit(): number {
    return this.#limit;
  }

  succeeded(): void {
    this.#successes++;
    if (this.#limit * 2 >= this.#batchJobs) this.#limit = Infinity;
    else this.#limit *= 2;
  }

  failed(batch: readonly PendingJob[]): Blame {
    this.#limit = Math.max(1, Math.min(this.#limit, batch.length) >> 1);
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
