import type { Clock } from './clock.ts';
import { DeferError } from './errors.ts';
import type { PendingJob } from './pending-job.ts';

/** Gives up on levels that are not reached in time: a reply is not held for ever. One timer does for all jobs. */
export class AcknowledgeLimit {
  readonly #clock: Clock;
  readonly #limitMs: number;
  /** In the order they are given up in, as all have the same time. */
  readonly #waiting = new Map<PendingJob, number>();
  #isTimed = false;

  constructor(clock: Clock, limitMs: number) {
    this.#clock = clock;
    this.#limitMs = limitMs;
  }

  /** The job is to be acknowledged within the limit, from now on. */
  watch(job: PendingJob): void {
    if (job.isAcknowledged) return;
    job.limit = this;
    this.#waiting.set(job, this.#clock.now() + this.#limitMs);
    if (!this.#isTimed) this.#lookIn(this.#limitMs);
  }

  /** It is. */
  forget(job: PendingJob): void {
    this.#waiting.delete(job);
  }

  #lookIn(ms: number): void {
    this.#isTimed = true;
    this.#clock.after(ms, () => this.#look(), false);
  }

  #look(): void {
    this.#isTimed = false;
    const now = this.#clock.now();
    for (const [job, endMs] of this.#waiting) {
      if (endMs > now) return this.#lookIn(endMs - now);
      job.acknowledge(
        new DeferError(
          'ERR_REDLINE_DEFER_NOT_ACKNOWLEDGED',
          `The job ${job.id} (${job.job}) did not reach the level ${job.level} within ${this.#limitMs} ms.`,
        ),
      );
    }
  }
}
