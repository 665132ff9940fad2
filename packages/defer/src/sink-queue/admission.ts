import type { PendingJob } from './pending-job.ts';
import type { JobPlace, Journal } from '../journal/journal.ts';
import type { Delayed } from './delayed.ts';
import type { SinkQueueCore } from './sink-queue-core.ts';

export interface AdmissionParts extends SinkQueueCore {
  readonly delayed: Delayed;
}

/** Decides where a new job of a queue waits: in memory for the next batch, only on disk, or until its time. */
export class Admission {
  /** True while jobs left by other processes are being searched for: where order counts, new jobs must not overtake them. */
  awaitsOrphans = false;
  readonly #parts: AdmissionParts;

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
  }

  /** True if another job must follow those that are only on disk: in memory it would overtake them. */
  get isBehindSpilled(): boolean {
    const { ordered, overflow } = this.#parts.options;
    return ordered !== false && overflow === 'spill' && this.#isBehindOthers;
  }

  /**
   * Returns where the job waits. A journaled job may be put back on disk if memory is full. Undefined if there is no room anywhere.
   */
  admit(job: PendingJob): 'memory' | 'disk' | 'later' | undefined {
    const { stats, delayed, budget, gathering, host } = this.#parts;
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
    budget.load(job);
    gathering.push(job, host.clock);
    return 'memory';
  }

  /** Puts the oldest job in memory back on disk. Returns false if the journal no longer has it, or order counts. */
  spillOldest(): boolean {
    const { options, budget, gathering } = this.#parts;
    const place = gathering.first?.place;
    if (place === undefined || options.ordered !== false || !place.journal.has(place)) return false;
    const job = gathering.takeOldest()!;
    budget.unload(job);
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

  /* Applies to every level: jobs with a long wait must not wait in memory. */
  #delay(job: PendingJob, waitMs: number): 'later' | undefined {
    const { delayed, host } = this.#parts;
    if (host.intake.shelve(job)) {
      job.isSpilled = true;
      delayed.putOnDisk(job.place!, waitMs);
      if (job.onDuplicate !== undefined) host.keyed.putOnDisk(job, true);
      return 'later';
    }
    if (this.#isTooMuch(job)) return undefined;
    this.#delayInMemory(job, waitMs);
    return 'later';
  }

  takeBack(job: PendingJob): void {
    job.isSpilled = false;
    if (job.onDuplicate !== undefined) this.#parts.host.keyed.loaded(job);
    this.#delayInMemory(job, Math.max(0, this.#parts.delayed.waitMs(job)));
  }

  #delayInMemory(job: PendingJob, waitMs: number): void {
    const { delayed, budget } = this.#parts;
    budget.load(job);
    // A delayed job does not count as waiting until its time.
    job.counts!.loaded--;
    delayed.putInMemory(job, waitMs);
  }

  /* The journal could not take the job and no response claims it, so no limit grows for it. */
  #isTooMuch(job: PendingJob): boolean {
    return (
      job.place === undefined && job.isJournaled && !job.isReached && this.#parts.budget.isFull
    );
  }

  /* First in, first out: the jobs after one that is only on disk go to disk as well. */
  #mustSpill(journal: Journal): boolean {
    const { budget, options, backlogs } = this.#parts;
    if (budget.isFull) return true;
    if (options.ordered !== false) return this.#isBehindOthers;
    return backlogs.of(journal)!.waiting > 0;
  }

  /* Jobs left by another process are older. */
  get #isBehindOthers(): boolean {
    return this.awaitsOrphans || this.#parts.backlogs.waiting > 0;
  }
}
