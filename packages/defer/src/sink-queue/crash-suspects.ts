import { DeferError } from '../errors.ts';
import type { PendingJob } from './pending-job.ts';

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
