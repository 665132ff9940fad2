import { DeferError } from '../errors.ts';
import { PendingJob } from './pending-job.ts';
import type { ReadBackJob } from '../journal/read-back.ts';
import type { Alarm } from './alarm.ts';
import type { BacklogChunk } from './backlog.ts';
import { BacklogReader } from './backlog-reader.ts';
import { Delayed } from './delayed.ts';
import type { Parking } from './parking.ts';
import type { Suspects } from './suspects.ts';
import type { LaneCore } from './lane-core.ts';

const readAgainMs = 1_000;

/** The part of a lane used by jobs that were only on disk. */
export interface LaneParts extends LaneCore {
  readonly parking: Parking;
  readonly suspects: Suspects;
  readonly alarm: Alarm;
  isClosed(): boolean;
  /** Nothing is being sent, or could be. */
  isIdle(): boolean;
  /** Makes it process the jobs that came. */
  schedule(): void;
  /** The job is lost. */
  lost(job: PendingJob): void;
}

/** Reads back jobs that are only on disk: spilled, left by a process, delayed, or waiting for their next attempt. */
export class FromDisk {
  readonly delayed: Delayed;
  readonly #parts: LaneParts;
  readonly #reader: BacklogReader;
  /** When unreadable jobs are retried. */
  #readAgainAtMs: number | undefined;
  readonly #told = new Set<string>();

  constructor(parts: LaneParts) {
    this.#parts = parts;
    const { options, host, room, backlogs, alarm } = parts;
    this.delayed = new Delayed(host.clock, options, room, {
      read: (jobs) => this.#takeIn(jobs, true, false),
      lost: (jobs, cause) => this.#lose(jobs, cause),
      trouble: (error) => this.#tell(error),
      ring: () => parts.schedule(),
    });
    this.#reader = new BacklogReader(options, room, backlogs, {
      read: (chunk, isReplayed) => this.#readBack(chunk, isReplayed),
      failed: (error) => {
        host.logger.warn(`defer, sink ${options.name}: its jobs cannot be read back.`, error);
        alarm.ringIn(readAgainMs, host.clock.now());
      },
    });
  }

  /** When to look again. */
  get nextDueAtMs(): number | undefined {
    const parkedMs = this.#parts.parking.nextDueAtMs ?? Infinity;
    const nextMs = Math.min(parkedMs, this.#readAgainAtMs ?? Infinity);
    return nextMs === Infinity ? undefined : nextMs;
  }

  /** Reads the jobs that are due. */
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

  /** Reads as many as there is room for. */
  readMore(): void {
    this.#reader.readMore();
  }

  #readBack({ jobs, lost, trouble }: BacklogChunk, isReplayed: boolean): void {
    if (this.#parts.isClosed()) return;
    this.#takeIn(jobs, false, isReplayed);
    if (trouble !== undefined) {
      this.#readAgainAtMs ??= this.#parts.host.clock.now() + readAgainMs;
      this.#tell(trouble);
    }
    if (lost > 0) this.#lose(lost, notWhatWasWritten());
  }

  /* `isDue`: it was delayed and is due, whatever the wall clock says now. */
  #takeIn(read: readonly ReadBackJob[], isDue: boolean, isReplayed: boolean): void {
    const { stats, host, room, gathering, options, suspects } = this.#parts;
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
      room.load(job);
      if (job.onDuplicate !== undefined) host.keyed.loaded(job);
      const isSuspect = options.sink.runsHere === true && suspects.take(job);
      if (!isSuspect) gathering.push(job, host.clock);
    }
    this.#parts.schedule();
  }

  #unpark(now: number): void {
    const { parking, room, options } = this.#parts;
    const { nextDueAtMs } = parking;
    if (nextDueAtMs === undefined || nextDueAtMs > now) return;
    // The other half of the free room is for untried jobs: there may always be due ones.
    const freeJobs = options.maxPending / 2 - room.loaded;
    const freeLength = options.maxPendingBytes / 2 - room.loadedLength;
    // All jobs in memory may wait for one of these.
    if ((freeJobs <= 0 || freeLength <= 0) && !this.#parts.isIdle()) return;
    void this.#takeParked(now, Math.max(1, Math.floor(freeJobs / 2)), freeLength);
  }

  async #takeParked(now: number, mostJobs: number, mostLength: number): Promise<void> {
    const { parking, room, host, gathering, options } = this.#parts;
    const { jobs, lost, obsolete, cause, trouble } = await parking.take(now, mostJobs, mostLength);
    if (this.#parts.isClosed()) return;
    for (const job of jobs) {
      job.restore = host.restoreFrom(job.context);
      job.counts!.readBack(job.deferredAtMs);
      room.load(job);
      gathering.push(job, host.clock);
    }
    for (const job of obsolete) {
      job.counts!.gaveUp();
      gathering.release(job);
      host.desk.obsolete(job);
    }
    if (lost.length > 0) {
      const sentence = `${lost.length} jobs cannot be read back from the journal.`;
      host.logger.warn(`defer, sink ${options.name}: ${sentence}`, cause ?? notWhatWasWritten());
    }
    for (const job of lost) {
      this.#parts.lost(job);
      gathering.release(job);
    }
    if (trouble !== undefined) this.#tell(trouble);
    this.#parts.schedule();
  }

  #lose(jobs: number, cause: unknown): void {
    const { stats, host, options } = this.#parts;
    stats.dropped.unreadable += jobs;
    const sentence = `${jobs} jobs cannot be read back from the journal.`;
    host.logger.warn(`defer, sink ${options.name}: ${sentence}`, cause);
  }

  /* Everything else continues meanwhile. */
  #tell(trouble: DeferError): void {
    if (this.#told.has(trouble.message)) return;
    this.#told.add(trouble.message);
    const { host, options } = this.#parts;
    host.logger.warn(`defer, sink ${options.name}: ${trouble.message}`, trouble);
  }
}

function notWhatWasWritten(): DeferError {
  return new DeferError('ERR_REDLINE_DEFER_DAMAGED', 'Their bytes differ from what was written.');
}
