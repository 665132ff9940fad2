import type { JobPlace } from '../journal/journal.ts';
import type { ReadBackJob } from '../journal/read-back.ts';
import { readPlaces } from '../journal/read-places.ts';
import { jobStates } from '../journal/segment.ts';
import type { DeferError } from '../errors.ts';
import type { PendingJob } from './pending-job.ts';
import { DueHeap } from './due-heap.ts';

const maxReadAtOnce = 100;
const readAgainMs = 1_000;
const lookAgainMs = 10;

/** Result of reading the due jobs. */
export interface ParkedJobs {
  readonly jobs: readonly PendingJob[];
  /** Jobs that can no longer be read, because of `cause`. */
  readonly lost: readonly PendingJob[];
  /** Jobs that are no longer to be sent. */
  readonly obsolete: readonly PendingJob[];
  readonly cause: unknown;
  /** Reason why some are currently unreadable; they are retried. */
  readonly trouble: DeferError | undefined;
}

/**
 * Jobs that wait on disk, for their next attempt or for another with their key: there may be many, and they must not take
 * the room of those that work.
 */
export class Parking {
  readonly #heap = new DueHeap<PendingJob>();
  /** Jobs being read. */
  #leaving = 0;
  #waitingForKeys = 0;

  get length(): number {
    return this.retrying + this.#waitingForKeys;
  }

  /** Jobs that wait for their next attempt. */
  get retrying(): number {
    return this.#heap.length + this.#leaving;
  }

  /** Jobs that wait for another with their key. */
  get waitingForKeys(): number {
    return this.#waitingForKeys;
  }

  /** Time at which the next one is due. */
  get nextDueAtMs(): number | undefined {
    return this.#leaving > 0 ? undefined : this.#heap.peek()?.dueAtMs;
  }

  /** The jobs that wait for their next attempt; the order of the keys has the others. */
  [Symbol.iterator](): Iterator<PendingJob> {
    return this.#heap[Symbol.iterator]();
  }

  /** Parks a job that has a place in the journal. */
  park(job: PendingJob): void {
    job.strip();
    this.#heap.push(job);
  }

  /** Parks a job that waits for its key, until `keyReleased`. */
  parkForKey(job: PendingJob): void {
    job.strip();
    this.#waitingForKeys++;
  }

  /** Returns false for a job that was not parked. */
  keyReleased(job: PendingJob): boolean {
    if (!job.isStripped) return false;
    this.#waitingForKeys--;
    this.#heap.push(job);
    return true;
  }

  /** Reads the due jobs, as far as there is room. */
  async take(now: number, maxJobs: number, maxLength: number): Promise<ParkedJobs> {
    const due = new Map<unknown, PendingJob>();
    const lost: PendingJob[] = [];
    const obsolete: PendingJob[] = [];
    const limit = Math.min(maxReadAtOnce, maxJobs);
    while (due.size < limit && (this.#heap.peek()?.dueAtMs ?? Infinity) <= now) {
      const job = this.#heap.pop()!;
      if (job.isObsolete) obsolete.push(job);
      else if (isThere(job)) due.set(job.place, job);
      else lost.push(job);
    }
    this.#leaving = due.size;
    const read = await readPlaces(
      [...due.values()].map(({ place }) => place!),
      maxLength,
    );
    this.#leaving = 0;
    const jobs = read.jobs.map(({ place, record }: ReadBackJob) => {
      const job = due.get(place)!;
      due.delete(place);
      job.refill(record);
      return job;
    });
    const putBack = (places: readonly JobPlace[], dueAtMs: number): void => {
      for (const place of places) {
        const job = due.get(place)!;
        due.delete(place);
        job.dueAtMs = dueAtMs;
        this.#heap.push(job);
      }
    };
    // Either the first record is still being written, or memory is full. Both pass quickly.
    putBack(read.unread, now + lookAgainMs);
    putBack(read.stuck, now + readAgainMs);
    lost.push(...due.values());
    return { jobs, lost, obsolete, cause: read.cause, trouble: read.trouble };
  }
}

/* False for a job that could not be written. */
function isThere({ place }: PendingJob): boolean {
  return place !== undefined && place.segment.stateOf(place.number) === jobStates.loaded;
}
