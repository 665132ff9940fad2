import { readRecord } from '../journal/read-back.ts';
import type { PendingJob } from '../job/pending-job.ts';
import { DueHeap } from './due-heap.ts';

const mostReadAtOnce = 100;

/** Jobs that wait for their next try on disk: there may be many, and they must not take the room of those that work. */
export class Parking {
  readonly #heap = new DueHeap<PendingJob>();
  /** Being read. */
  #leaving = 0;

  get length(): number {
    return this.#heap.length + this.#leaving;
  }

  /** When the next one is due. */
  get nextDueAtMs(): number | undefined {
    return this.#leaving > 0 ? undefined : this.#heap.peek()?.dueAtMs;
  }

  [Symbol.iterator](): Iterator<PendingJob> {
    return this.#heap[Symbol.iterator]();
  }

  /** The job has a place in the journal. */
  park(job: PendingJob): void {
    job.strip();
    this.#heap.push(job);
  }

  /** Reads those that are due, while there is room. */
  async take(
    now: number,
    hasRoom: () => boolean,
    came: (job: PendingJob) => void,
    failed: (job: PendingJob, error: unknown) => void,
  ): Promise<void> {
    if (this.#leaving > 0) return;
    const due: PendingJob[] = [];
    while (due.length < mostReadAtOnce && (this.#heap.peek()?.dueAtMs ?? Infinity) <= now) {
      due.push(this.#heap.pop()!);
    }
    this.#leaving = due.length;
    for (const job of due) {
      if (hasRoom()) {
        try {
          job.refill(await readRecord(job.place!));
          came(job);
        } catch (error) {
          failed(job, error);
        }
      } else {
        this.#heap.push(job);
      }
      this.#leaving--;
    }
  }
}
