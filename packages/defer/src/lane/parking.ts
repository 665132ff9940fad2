import type { JobPlace } from '../journal/journal.ts';
import type { ReadBackJob } from '../journal/read-back.ts';
import { readPlaces } from '../journal/read-places.ts';
import { jobStates } from '../journal/segment.ts';
import type { DeferError } from '../errors.ts';
import type { PendingJob } from './pending-job.ts';
import { DueHeap } from './due-heap.ts';

const mostReadAtOnce = 100;
const readAgainMs = 1_000;
const lookAgainMs = 10;

/** What was read of those that were due. */
export interface ParkedJobs {
  readonly jobs: readonly PendingJob[];
  /** Cannot be read any more, for this reason. */
  readonly lost: readonly PendingJob[];
  /** Are not to be sent any more. */
  readonly obsolete: readonly PendingJob[];
  readonly cause: unknown;
  /** Why some cannot be read for now; they are tried again. */
  readonly trouble: DeferError | undefined;
}

/** Jobs that wait on disk, for their next try or for another of their key: there may be many, and they must not take
 * the room of those that work. */
export class Parking {
  readonly #heap = new DueHeap<PendingJob>();
  /** Being read. */
  #leaving = 0;
  #behind = 0;

  get length(): number {
    return this.retrying + this.#behind;
  }

  /** Those that wait for their next try. */
  get retrying(): number {
    return this.#heap.length + this.#leaving;
  }

  /** Those that wait for another of their key. */
  get behind(): number {
    return this.#behind;
  }

  /** When the next one is due. */
  get nextDueAtMs(): number | undefined {
    return this.#leaving > 0 ? undefined : this.#heap.peek()?.dueAtMs;
  }

  /** Those that wait for their next try: whoever keeps the order of the keys has the others. */
  [Symbol.iterator](): Iterator<PendingJob> {
    return this.#heap[Symbol.iterator]();
  }

  /** The job has a place in the journal. */
  park(job: PendingJob): void {
    job.strip();
    this.#heap.push(job);
  }

  /** The same for one whose turn comes by `callUp`. */
  parkBehind(job: PendingJob): void {
    job.strip();
    this.#behind++;
  }

  /** False for a job that was not parked. */
  callUp(job: PendingJob): boolean {
    if (!job.isStripped) return false;
    this.#behind--;
    this.#heap.push(job);
    return true;
  }

  /** Reads those that are due, as far as there is room. */
  async take(now: number, mostJobs: number, mostLength: number): Promise<ParkedJobs> {
    const due = new Map<unknown, PendingJob>();
    const lost: PendingJob[] = [];
    const obsolete: PendingJob[] = [];
    const most = Math.min(mostReadAtOnce, mostJobs);
    while (due.size < most && (this.#heap.peek()?.dueAtMs ?? Infinity) <= now) {
      const job = this.#heap.pop()!;
      if (job.isObsolete) obsolete.push(job);
      else if (isThere(job)) due.set(job.place, job);
      else lost.push(job);
    }
    this.#leaving = due.size;
    const read = await readPlaces(
      [...due.values()].map(({ place }) => place!),
      mostLength,
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

/* What could not be written is not. */
function isThere({ place }: PendingJob): boolean {
  return place !== undefined && place.segment.stateOf(place.number) === jobStates.loaded;
}
