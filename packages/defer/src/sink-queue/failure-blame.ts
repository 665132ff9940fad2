import type { PendingJob } from './pending-job.ts';
import { DeferError } from '../errors.ts';

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

/** In addition to the process lifetime in which a job was deferred, which records nothing. */
const maxInterruptedRuns = 2;

/** The part of a queue that suspects use. */
export interface CrashSuspectsHost {
  /** Returns false if the job has to wait for another with its key; `keyReleased` is called when its turn has come. */
  enterKey(job: PendingJob): boolean;
  die(job: PendingJob, error: unknown): void;
}

/** Jobs that were running when a process exited: each runs alone, so that the next exit can be blamed on one. */
export class CrashSuspects {
  readonly #jobs: PendingJob[] = [];
  /** Those that wait for another with their key. */
  readonly #waitingForKey = new Set<PendingJob>();
  readonly #host: CrashSuspectsHost;
  /** True while one of them is running, or waits to: no other job runs. */
  isAlone = false;

  constructor(host: CrashSuspectsHost) {
    this.#host = host;
  }

  /** Those that only wait to be alone. */
  [Symbol.iterator](): Iterator<PendingJob> {
    return this.#jobs.values();
  }

  /**
   * Takes the job if it may have ended another process. A job that began in two process lifetimes and never finished does
   * not end a third. Returns false if it is not suspected.
   */
  take(job: PendingJob): boolean {
    const { journal, number } = job.place!;
    if (!journal.isAdopted) return false;
    job.beforeRun = () => journal.begin(job.place!);
    const begun = journal.tries.begun(number);
    if (begun === 0) return false;
    if (begun >= maxInterruptedRuns) this.#host.die(job, exitedWhileRunning(begun));
    else if (this.#host.enterKey(job)) this.#jobs.push(job);
    else this.#waitingForKey.add(job);
    return true;
  }

  /** Called when the job is the next one with its key. Returns false if it is not suspected. */
  keyReleased(job: PendingJob): boolean {
    if (!this.#waitingForKey.delete(job)) return false;
    this.#jobs.push(job);
    return true;
  }

  /** Returns the next one, if nothing else is running. */
  next(isFree: boolean): PendingJob | undefined {
    if (this.#jobs.length === 0) return undefined;
    this.isAlone = true;
    return isFree ? this.#jobs.shift() : undefined;
  }
}

function exitedWhileRunning(begun: number): DeferError {
  return new DeferError(
    'ERR_REDLINE_DEFER_DEAD',
    `Each of the last ${begun} processes that ran it exited while it ran.`,
  );
}
