import { DeferError } from '../errors.ts';
import type { PendingJob } from './pending-job.ts';

/** In addition to the life in which a job was deferred, which records nothing. */
const mostBegun = 2;

/** The part of a lane that suspects use. */
export interface SuspectsHost {
  /** False if the job has to wait for another with its key; `comes` is called when its turn has come. */
  enterKey(job: PendingJob): boolean;
  die(job: PendingJob, error: unknown): void;
}

/** Jobs that were running when a process exited: each runs alone, so that the next exit can be blamed on one. */
export class Suspects {
  readonly #jobs: PendingJob[] = [];
  /** Those that wait for another with their key. */
  readonly #behind = new Set<PendingJob>();
  readonly #host: SuspectsHost;
  /** One of them is running, or waits to: no other job runs. */
  isAlone = false;

  constructor(host: SuspectsHost) {
    this.#host = host;
  }

  /** Those that wait for nothing but to be alone. */
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
    if (begun >= mostBegun) this.#host.die(job, endedProcess(begun));
    else if (this.#host.enterKey(job)) this.#jobs.push(job);
    else this.#behind.add(job);
    return true;
  }

  /** The job was the next one with its key. False if it is not suspected. */
  comes(job: PendingJob): boolean {
    if (!this.#behind.delete(job)) return false;
    this.#jobs.push(job);
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
