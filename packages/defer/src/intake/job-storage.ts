import type { Clock } from '../clock.ts';
import { jobStates } from '../journal/segment.ts';
import type { DropReason } from '../sink-queue/queue-counts.ts';
import type { SinkQueue } from '../sink-queue/sink-queue.ts';
import type { PendingJob } from '../sink-queue/pending-job.ts';
import type { DeferLogger } from '../logger.ts';
import type { Journaling } from './journaling.ts';
import { closedError, queueFull } from './refusals.ts';

export interface JobStorageHost {
  readonly clock: Clock;
  readonly logger: DeferLogger;
  readonly journaling: Journaling | undefined;
  queueOf(job: PendingJob): SinkQueue;
  settle(job: PendingJob, error: unknown): void;
  /** Settles the job with an error if its level is not reached in time. */
  watch(job: PendingJob): void;
  deliver(job: PendingJob): void;
  drop(job: PendingJob, queue: SinkQueue, reason: DropReason): void;
}

/**
 * Stores jobs by their level and the `overflow` of their queue: in memory, in the journal, or waiting until one of them has
 * room.
 */
export class JobStorage {
  readonly #host: JobStorageHost;
  readonly #blocked: Blocked;

  constructor(host: JobStorageHost) {
    this.#host = host;
    this.#blocked = new Blocked(
      host.clock,
      () => host.journaling!.hasRoom(),
      (job) => this.#roomFor(job),
    );
  }

  /** True if neither memory nor the journal has room for the job yet. */
  isBlocked(job: PendingJob): boolean {
    return this.#blocked.has(job);
  }

  /** Ends the job's wait for room. Returns false if it was not waiting. */
  unblock(job: PendingJob): boolean {
    return this.#blocked.delete(job);
  }

  /** Leaves the job in the journal for the next process. Returns how many are lost. */
  keep(job: PendingJob, queue: SinkQueue): 0 | 1 {
    try {
      this.#host.journaling!.append(job, job.standIn?.());
      // The job is safe, but the level `sink` has not been reached.
      if (!job.isJournaled)
        this.#host.settle(job, job.level === 'sink' ? closedError() : undefined);
      return 0;
    } catch (error) {
      this.#host.drop(job, queue, 'exit');
      this.#host.logger.warn(
        `defer: the job ${job.id} (${job.job}) could not be journaled.`,
        error,
      );
      return 1;
    }
  }

  /**
   * Holds the job in memory until its queue has it. Returns false if it was given up. @throws {DeferError} ERR_REDLINE_DEFER_FULL
   */
  load(job: PendingJob, queue: SinkQueue): boolean {
    if (!queue.budget.isFull) {
      if (job.level === 'memory') this.#host.settle(job, undefined);
      return true;
    }
    const { overflow } = queue.options;
    if (overflow === 'spill' && job.level === 'memory') {
      this.record(job, queue);
      if (job.place !== undefined) {
        this.#host.settle(job, undefined);
        return true;
      }
      // The journal cannot take it, and memory must not.
    }
    if (overflow === 'drop-oldest') {
      if (!this.#replaceOldest(job, queue)) return false;
      if (job.level === 'memory') this.#host.settle(job, undefined);
      return true;
    }
    if (overflow === 'block' && queue.budget.blocked < queue.options.maxPending) {
      if (job.level === 'sink') return true;
      this.#host.watch(job);
      queue.budget.whenFree(() => this.#host.settle(job, undefined));
      return true;
    }
    queue.stats.rejected++;
    throw queueFull(queue);
  }

  /* Does not drop an acknowledged job for one in memory: the journal has it. @throws {DeferError} ERR_REDLINE_DEFER_FULL */
  #replaceOldest(job: PendingJob, queue: SinkQueue): boolean {
    const { oldest } = queue;
    if (oldest?.isJournaled && (oldest.place !== undefined || oldest.isReached)) {
      if (queue.spillOldest()) return true;
      queue.stats.rejected++;
      throw queueFull(queue);
    }
    const dropped = queue.takeOldest();
    this.#host.drop(dropped ?? job, queue, 'overflow');
    return dropped !== undefined;
  }

  /** Gives the job to the journal, which confirms it later. @throws {DeferError} ERR_REDLINE_DEFER_FULL */
  record(job: PendingJob, queue: SinkQueue): true {
    if (this.#recordOrBlock(job, queue)) return true;
    queue.stats.rejected++;
    throw this.#host.journaling!.full();
  }

  /** Like `record`, after the call has returned: an error settles the job. */
  recordLate(job: PendingJob, queue: SinkQueue): void {
    if (!this.#recordOrBlock(job, queue)) this.#host.settle(job, this.#host.journaling!.full());
  }

  #recordOrBlock(job: PendingJob, queue: SinkQueue): boolean {
    const journaling = this.#host.journaling!;
    if (journaling.hasRoom() || journaling.makeRoom(queue)) {
      this.#append(job);
      return true;
    }
    // A refused job does not wait a second time.
    if (queue.options.overflow !== 'block' || job.isSettled) return false;
    if (this.#blocked.size >= queue.options.maxPending) return false;
    this.#blocked.add(job);
    this.#host.watch(job);
    return true;
  }

  #roomFor(job: PendingJob): void {
    this.#append(job);
    if (!job.isHeldBack) return;
    job.isHeldBack = false;
    this.#host.deliver(job);
  }

  #append(job: PendingJob): void {
    try {
      this.#host.journaling!.append(job);
    } catch (error) {
      this.failed(job, error);
    }
  }

  /**
   * Called if the journal could not write the job. If memory has it, it is delivered from there; the app decides if that is enough.
   */
  failed(job: PendingJob, error: unknown): void {
    const { place } = job;
    // Jobs that could not be synced were still written.
    const isWritten =
      place !== undefined && place.segment.stateOf(place.number) !== jobStates.absent;
    if (!isWritten) job.place = undefined;
    // Its level, memory, is acknowledged: a delayed job that was to wait on disk waits in memory.
    if (!isWritten && job.level === 'memory' && job.isSpilled)
      this.#host.queueOf(job).takeBack(job);
    const isInMemory = !job.isSpilled && (job.isUnderway || !this.#host.queueOf(job).budget.isFull);
    const isEnough = this.#host.journaling!.degrades && (isInMemory || isWritten);
    this.#host.settle(job, isEnough ? undefined : error);
  }
}

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
