import type { PendingJob } from './pending-job.ts';
import type { JobPlace, Journal } from '../journal/journal.ts';
import type { Delayed } from './delayed.ts';
import type { LaneCore } from './lane-core.ts';

export interface AdmissionParts extends LaneCore {
  readonly delayed: Delayed;
}

/** Decides where a new job of a lane waits: in memory for the next batch, only on disk, or until its time. */
export class Admission {
  /** Jobs left by other processes are being searched: where order counts, new jobs must not come before them. */
  awaitsOrphans = false;
  readonly #parts: AdmissionParts;

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
  }

  /** True if another job must go behind those that are only on disk: in memory it would overtake them. */
  get isBehindSpilled(): boolean {
    const { ordered, overflow } = this.#parts.options;
    return ordered !== false && overflow === 'spill' && this.#isBehindOthers;
  }

  /** A journaled job may be put back there if memory is full. Undefined if there is no room anywhere. */
  admit(job: PendingJob): 'memory' | 'disk' | 'later' | undefined {
    const { stats, delayed, room, gathering, host } = this.#parts;
    stats.deferred++;
    const counts = (job.counts = stats.byName.of(job.job));
    counts.deferred++;
    const waitMs = delayed.waitMs(job);
    if (waitMs > 0) return this.#delay(job, waitMs);
    const { place } = job;
    if (place !== undefined && job.level !== 'sink' && this.#mustSpill(place.journal)) {
      this.#spill(job, place);
      return 'disk';
    }
    if (this.#isTooMuch(job)) return undefined;
    room.load(job);
    gathering.push(job, host.clock);
    return 'memory';
  }

  /** Puts the oldest job in memory back on disk. False if that has it no more, or order counts. */
  spillOldest(): boolean {
    const { options, room, gathering } = this.#parts;
    const place = gathering.first?.place;
    if (place === undefined || options.ordered !== false || !place.journal.has(place)) return false;
    const job = gathering.takeOldest()!;
    room.unload(job);
    this.#spill(job, place);
    return true;
  }

  #spill(job: PendingJob, place: JobPlace): void {
    const { stats, backlogs } = this.#parts;
    place.journal.unload(place);
    backlogs.of(place.journal)!.add(job.deferredAtMs);
    job.counts!.spilled(1, job.deferredAtMs);
    job.isSpilled = true;
    if (job.onDuplicate !== undefined) this.#parts.host.keyed.putOnDisk(job, false);
    stats.spilled++;
  }

  /* Whatever its level: jobs that wait for long must not wait in memory. */
  #delay(job: PendingJob, waitMs: number): 'later' | undefined {
    const { delayed, host } = this.#parts;
    if (host.desk.shelve(job)) {
      job.isSpilled = true;
      delayed.putOnDisk(job.place!, waitMs);
      if (job.onDuplicate !== undefined) host.keyed.putOnDisk(job, true);
      return 'later';
    }
    if (this.#isTooMuch(job)) return undefined;
    this.#delayInMemory(job, waitMs);
    return 'later';
  }

  /** A delayed job could not be written. */
  takeBack(job: PendingJob): void {
    job.isSpilled = false;
    if (job.onDuplicate !== undefined) this.#parts.host.keyed.loaded(job);
    this.#delayInMemory(job, Math.max(0, this.#parts.delayed.waitMs(job)));
  }

  #delayInMemory(job: PendingJob, waitMs: number): void {
    const { delayed, room } = this.#parts;
    room.load(job);
    // Until its time it does not count as waiting.
    job.counts!.loaded--;
    delayed.putInMemory(job, waitMs);
  }

  /* The journal could not take it, no response claims it, and no limit grows for it. */
  #isTooMuch(job: PendingJob): boolean {
    return job.place === undefined && job.isJournaled && !job.isReached && this.#parts.room.isFull;
  }

  /* First in, first out: behind a job that is only on disk, the next ones are too. */
  #mustSpill(journal: Journal): boolean {
    const { room, options, backlogs } = this.#parts;
    if (room.isFull) return true;
    if (options.ordered !== false) return this.#isBehindOthers;
    return backlogs.of(journal)!.waiting > 0;
  }

  /* Jobs left by another process are older. */
  get #isBehindOthers(): boolean {
    return this.awaitsOrphans || this.#parts.backlogs.waiting > 0;
  }
}
