import type { Clock } from '../clock.ts';
import type { PendingJob } from '../sink-queue/pending-job.ts';
import type { DeferLogger } from '../logger.ts';
import { LogThrottle } from '../log-throttle.ts';
import type { DeadLetters } from './dead-letters.ts';

/** Reports jobs and closures that failed for good, and keeps the jobs as dead letters. */
export class Failures {
  readonly #clock: Clock;
  readonly #logger: DeferLogger;
  readonly #letters: () => DeadLetters;
  readonly #throttle: LogThrottle;

  constructor(clock: Clock, logger: DeferLogger, letters: () => DeadLetters) {
    this.#clock = clock;
    this.#logger = logger;
    this.#letters = letters;
    this.#throttle = new LogThrottle(clock, (count) =>
      logger.warn(`defer: ${count} more jobs are dead letters, or closures that failed.`),
    );
  }

  async bury(job: PendingJob, error: unknown): Promise<void> {
    const isClosure = job.work !== undefined;
    this.#throttle.log(() =>
      this.#logger.warn(
        isClosure
          ? `defer: a closure (${job.job}) failed.`
          : `defer: the job ${job.id} (${job.job}) is a dead letter.`,
        error,
      ),
    );
    if (!isClosure) await this.#letters().bury(job, error, this.#clock.wall());
  }
}
