import type { Clock } from '../clock.ts';
import type { PendingJob } from '../sink-queue/pending-job.ts';

const lookEveryMs = 100;

/** Jobs that wait for the journal to have room. */
export class Blocked {
  readonly #clock: Clock;
  readonly #hasRoom: () => boolean;
  readonly #freed: (job: PendingJob) => void;
  /** First come, first served. */
  readonly #jobs = new Set<PendingJob>();
  #isWatching = false;

  /** Calls `freed` with one job after another, while there is room. */
  constructor(clock: Clock, hasRoom: () => boolean, freed: (job: PendingJob) => void) {
    this.#clock = clock;
    this.#hasRoom = hasRoom;
    this.#freed = freed;
  }

  get size(): number {
    return this.#jobs.size;
  }

  has(job: PendingJob): boolean {
    return this.#jobs.size > 0 && this.#jobs.has(job);
  }

  add(job: PendingJob): void {
    this.#jobs.add(job);
    this.#watch();
  }

  /** Removes a job that no longer waits. Returns false if it did not wait. */
  delete(job: PendingJob): boolean {
    return this.#jobs.size > 0 && this.#jobs.delete(job);
  }

  #watch(): void {
    if (this.#isWatching || this.#jobs.size === 0) return;
    this.#isWatching = true;
    this.#clock.after(lookEveryMs, () => this.#look(), true);
  }

  #look(): void {
    this.#isWatching = false;
    for (const job of this.#jobs) {
      if (!this.#hasRoom()) break;
      this.#jobs.delete(job);
      this.#freed(job);
    }
    this.#watch();
  }
}
