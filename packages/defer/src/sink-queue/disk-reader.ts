import type { JobPlace } from '../journal/journal.ts';
import type { ReadBackJob } from '../journal/read-back.ts';
import { readPlaces } from '../journal/read-places.ts';
import { jobStates } from '../journal/segment.ts';
import { DeferError } from '../errors.ts';
import { PendingJob } from './pending-job.ts';
import { DueHeap } from './deque-and-heap.ts';
import type { Alarm } from './wake-up.ts';
import { type BacklogChunk, BacklogReader } from './backlogs.ts';
import { Delayed } from './delayed.ts';
import type { CrashSuspects } from './failure-blame.ts';
import type { SinkQueueCore } from './sink-queue-core.ts';

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

/** The part of a queue used by jobs that were only on disk. */
export interface DiskReaderParts extends SinkQueueCore {
  readonly parking: Parking;
  readonly suspects: CrashSuspects;
  readonly alarm: Alarm;
  isClosed(): boolean;
  /** True if nothing is being sent, or could be. */
  isIdle(): boolean;
  /** Makes the queue process the jobs that were read. */
  schedule(): void;
  lost(job: PendingJob): void;
}

/** Reads back jobs that are only on disk: spilled, left by a process, delayed, or waiting for their next attempt. */
export class DiskReader {
  readonly delayed: Delayed;
  readonly #parts: DiskReaderParts;
  readonly #reader: BacklogReader;
  /** Time at which unreadable jobs are retried. */
  #readAgainAtMs: number | undefined;
  readonly #reported = new Set<string>();

  constructor(parts: DiskReaderParts) {
    this.#parts = parts;
    const { options, host, budget, backlogs, alarm } = parts;
    this.delayed = new Delayed(host.clock, options, budget, {
      read: (jobs) => this.#takeIn(jobs, true, false),
      lost: (jobs, cause) => this.#lose(jobs, cause),
      trouble: (error) => this.#reportOnce(error),
      ring: () => parts.schedule(),
    });
    this.#reader = new BacklogReader(options, budget, backlogs, {
      read: (chunk, isReplayed) => this.#readBack(chunk, isReplayed),
      failed: (error) => {
        host.logger.warn(`defer, sink ${options.name}: its jobs cannot be read back.`, error);
        alarm.ringIn(readAgainMs, host.clock.now());
      },
    });
  }

  /** Time at which to look again. */
  get nextDueAtMs(): number | undefined {
    const parkedMs = this.#parts.parking.nextDueAtMs ?? Infinity;
    const nextMs = Math.min(parkedMs, this.#readAgainAtMs ?? Infinity);
    return nextMs === Infinity ? undefined : nextMs;
  }

  takeDue(now: number): void {
    const { backlogs, gathering, host } = this.#parts;
    if (this.#readAgainAtMs !== undefined && now >= this.#readAgainAtMs) {
      this.#readAgainAtMs = undefined;
      backlogs.retryStuck();
    }
    this.#unpark(now);
    for (let job = this.delayed.take(now); job; job = this.delayed.take(now)) {
      job.counts!.loaded++;
      gathering.push(job, host.clock);
    }
    this.delayed.readDue(now);
  }

  readMore(): void {
    this.#reader.readMore();
  }

  #readBack({ jobs, lost, trouble }: BacklogChunk, isReplayed: boolean): void {
    if (this.#parts.isClosed()) return;
    this.#takeIn(jobs, false, isReplayed);
    if (trouble !== undefined) {
      this.#readAgainAtMs ??= this.#parts.host.clock.now() + readAgainMs;
      this.#reportOnce(trouble);
    }
    if (lost > 0) this.#lose(lost, notWhatWasWritten());
  }

  /* `isDue`: it was delayed and is due, regardless of the wall clock. */
  #takeIn(read: readonly ReadBackJob[], isDue: boolean, isReplayed: boolean): void {
    const { stats, host, budget, gathering, options, suspects } = this.#parts;
    if (this.#parts.isClosed()) return;
    for (const { place, record } of read) {
      const counts = stats.byName.of(record.job);
      if (!isDue) {
        counts.readBack(record.deferredAtMs);
        const waitMs = this.delayed.waitMs(record);
        if (waitMs > 0) {
          this.delayed.putOnDisk(place, waitMs);
          if (record.onDuplicate !== undefined) host.keyed.delay(record, place);
          continue;
        }
      }
      const job = new PendingJob(record, 'process', 'always', host.restoreFrom(record.context));
      job.place = place;
      job.redelivered = isReplayed;
      job.counts = counts;
      budget.load(job);
      if (job.onDuplicate !== undefined) host.keyed.loaded(job);
      const isSuspect = options.sink.runsHere === true && suspects.take(job);
      if (!isSuspect) gathering.push(job, host.clock);
    }
    this.#parts.schedule();
  }

  #unpark(now: number): void {
    const { parking, budget, options } = this.#parts;
    const { nextDueAtMs } = parking;
    if (nextDueAtMs === undefined || nextDueAtMs > now) return;
    // The other half of the free room is for untried jobs: there may always be due ones.
    const freeJobs = options.maxPending / 2 - budget.loaded;
    const freeLength = options.maxPendingBytes / 2 - budget.loadedLength;
    // All jobs in memory may wait for one of these.
    if ((freeJobs <= 0 || freeLength <= 0) && !this.#parts.isIdle()) return;
    void this.#takeParked(now, Math.max(1, Math.floor(freeJobs / 2)), freeLength);
  }

  async #takeParked(now: number, maxJobs: number, maxLength: number): Promise<void> {
    const { parking, budget, host, gathering, options } = this.#parts;
    const { jobs, lost, obsolete, cause, trouble } = await parking.take(now, maxJobs, maxLength);
    if (this.#parts.isClosed()) return;
    for (const job of jobs) {
      job.restore = host.restoreFrom(job.context);
      job.counts!.readBack(job.deferredAtMs);
      budget.load(job);
      gathering.push(job, host.clock);
    }
    for (const job of obsolete) {
      job.counts!.gaveUp();
      gathering.release(job);
      host.intake.obsolete(job);
    }
    if (lost.length > 0) {
      const sentence = `${lost.length} jobs cannot be read back from the journal.`;
      host.logger.warn(`defer, sink ${options.name}: ${sentence}`, cause ?? notWhatWasWritten());
    }
    for (const job of lost) {
      this.#parts.lost(job);
      gathering.release(job);
    }
    if (trouble !== undefined) this.#reportOnce(trouble);
    this.#parts.schedule();
  }

  #lose(jobs: number, cause: unknown): void {
    const { stats, host, options } = this.#parts;
    stats.dropped.unreadable += jobs;
    const sentence = `${jobs} jobs cannot be read back from the journal.`;
    host.logger.warn(`defer, sink ${options.name}: ${sentence}`, cause);
  }

  /* Logs each problem once: everything else continues meanwhile. */
  #reportOnce(trouble: DeferError): void {
    if (this.#reported.has(trouble.message)) return;
    this.#reported.add(trouble.message);
    const { host, options } = this.#parts;
    host.logger.warn(`defer, sink ${options.name}: ${trouble.message}`, trouble);
  }
}

function notWhatWasWritten(): DeferError {
  return new DeferError('ERR_REDLINE_DEFER_DAMAGED', 'Their bytes differ from what was written.');
}
