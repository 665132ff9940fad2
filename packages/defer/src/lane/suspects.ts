import { DeferError } from '../errors.ts';
import type { PendingJob } from './pending-job.ts';

/** In addition to the life in which a job was deferred, which records nothing. */
const mostBegun = 2;

/** Jobs that were running when a process exited: each runs alone, so that the next exit can be blamed on one. */
export class Suspects {
  readonly #jobs: PendingJob[] = [];
  readonly #die: (job: PendingJob, error: unknown) => void;
  /** One of them is running, or waits to: no other job runs. */
  isAlone = false;

  constructor(die: (job: PendingJob, error: unknown) => void) {
    this.#die = die;
  }

  [Symbol.iterator](): Iterator<PendingJob> {
    return this.#jobs.values();
  }

  /**
   * Takes the job if it may have ended another process. One that began in two lives and never finished does not end a
   * third. False if it is not suspected.
   */
  take(job: PendingJob): boolean {
    const { journal, number } = job.place!;
    if (!journal.isAdopted) return false;
    job.beforeRun = () => journal.begin(job.place!);
    const begun = journal.tries.begun(number);
    if (begun === 0) return false;
    if (begun < mostBegun) this.#jobs.push(job);
    else this.#die(job, endedProcess(begun));
    return true;
  }

  /** The next one, if nothing else is running. */
  next(isFree: boolean): PendingJob | undefined {
    if (this.#jobs.length === 0) return undefined;
    this.isAlone = true;
    return isFree ? this.#jobs.shift() : undefined;
  }
}

function endedProcess(begun: number): DeferError {
  return new DeferError(
    'ERR_REDLINE_DEFER_DEAD',
    `Each of the last ${begun} processes that ran it exited while it ran.`,
  );
}
