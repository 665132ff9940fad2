import { DeferError } from '../errors.ts';
import type { PendingJob } from '../lane/pending-job.ts';
import { encodeJobRecord, type JobRecord } from '../journal/job-record.ts';
import type { JournalRoot } from '../journal/journal-root.ts';
import type { Lane } from '../lane/lane.ts';
import type { JournalOptions } from '../options.ts';

/** Takes jobs into the journal, and knows its free space. */
export class Journaling {
  readonly #root: JournalRoot<PendingJob>;
  readonly #options: Required<JournalOptions>;

  constructor(root: JournalRoot<PendingJob>, options: Required<JournalOptions>) {
    this.#root = root;
    this.#options = options;
  }

  /** Jobs that were not written, or not synced, are acceptable in memory. */
  get degrades(): boolean {
    return this.#options.onFailure === 'degrade';
  }

  hasRoom(): boolean {
    return this.#root.hasRoom();
  }

  /** Makes room by dropping the oldest jobs of the lane, if that is its `overflow`. */
  makeRoom(lane: Lane): boolean {
    const root = this.#root;
    if (lane.options.overflow !== 'drop-oldest') return false;
    while (!root.hasRoom()) {
      const dropped = root.dropOldest(lane.name);
      if (dropped === undefined) return false;
      lane.forget(dropped.journal, dropped.jobs);
    }
    return true;
  }

  full(): DeferError {
    return new DeferError(
      'ERR_REDLINE_DEFER_FULL',
      `The journal has reached its maxBytes, ${this.#options.maxBytes}.`,
    );
  }

  /**
   * Adds the job, or what stands for it. It is written with the next write, and the journal then says so for one whose level it is.
   *
   * @throws {DeferError} ERR_REDLINE_DEFER_JOURNAL: no segment can be opened
   */
  append(job: PendingJob, record: JobRecord = job): void {
    const { own } = this.#root;
    job.place = own.append(record.sink, encodeJobRecord(record));
    if (job.isJournaled) own.wait(job.level === 'disk' ? 'disk' : 'process', job);
  }

  /** The same for a job of memory, which the journal reports on as well: it has the only copy from then on. */
  shelve(job: PendingJob): void {
    this.append(job);
    this.#root.own.wait('process', job);
  }
}
