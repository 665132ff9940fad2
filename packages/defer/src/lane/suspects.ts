import { DeferError } from '../errors.ts';
import type { PendingJob } from '../job/pending-job.ts';

/** Beside the life a job was deferred in, which writes nothing down. */
const mostBegun = 2;

/** Jobs that were running when a process ended: each goes alone, so that the next end has one to blame. */
export class Suspects {
  readonly #jobs: PendingJob[] = [];
  readonly #die: (job: PendingJob, error: unknown) => void;
  /** One of them is on its way, or waits for it: no other job goes. */
  isAlone = false;

  constructor(die: (job: PendingJob, error: unknown) => void) {
    this.#die = die;
  }

  [Symbol.iterator](): Iterator<PendingJob> {
    return this.#jobs.values();
  }

  /**
   * Takes the job where it may be what ended another process. One that began in two lives and was not heard of again
   * ends a third one no more. False where there is nothing against it.
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

  /** The next one, where nothing else is on its way. */
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
