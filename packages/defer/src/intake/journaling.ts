import { DeferError } from '../errors.ts';
import type { PendingJob } from '../sink-queue/pending-job.ts';
import { encodeJobRecord, type JobRecord } from '../journal/job-record.ts';
import type { JournalRoot } from '../journal/journal-root.ts';
import type { SinkQueue } from '../sink-queue/sink-queue.ts';
import { type ResolvedJournal, listSinks, type ResolvedOptions } from '../options.ts';
import type { Journal } from '../journal/journal.ts';

/** Appends jobs to the journal, and knows its free space. */
export class Journaling {
  readonly #root: JournalRoot<PendingJob>;
  readonly #options: ResolvedJournal;

  constructor(root: JournalRoot<PendingJob>, options: ResolvedJournal) {
    this.#root = root;
    this.#options = options;
  }

  /** True if memory suffices for jobs that were not written, or not synced. */
  get degrades(): boolean {
    return this.#options.onFailure === 'degrade';
  }

  hasRoom(): boolean {
    return this.#root.hasRoom();
  }

  /** Makes room by dropping the oldest jobs of the queue, if that is its `overflow`. */
  makeRoom(queue: SinkQueue): boolean {
    const root = this.#root;
    if (queue.options.overflow !== 'drop-oldest') return false;
    while (!root.hasRoom()) {
      const dropped = root.dropOldest(queue.name);
      if (dropped === undefined) return false;
      queue.forget(dropped.journal, dropped.jobs);
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
   * Appends the job, or its stand-in, to the next write. The journal confirms the write if it is the job's level.
   *
   * @throws {DeferError} ERR_REDLINE_DEFER_JOURNAL: no segment can be opened
   */
  append(job: PendingJob, record: JobRecord = job): void {
    const { own } = this.#root;
    job.place = own.append(record.sink, encodeJobRecord(record));
    if (job.isJournaled) own.wait(job.level === 'disk' ? 'disk' : 'process', job);
  }

  /** Like `append`, for a job of level `memory`. The journal reports on it as well: it has the only copy from then on. */
  shelve(job: PendingJob): void {
    this.append(job);
    this.#root.own.wait('process', job);
  }
}

/** Journals of exited processes: their jobs go to the sinks with the same names here. */
export class Orphans {
  readonly #queues: ReadonlyMap<string, SinkQueue>;
  readonly #logger: ResolvedOptions['logger'];
  readonly #unclaimed = new Set<string>();

  constructor(queues: ReadonlyMap<string, SinkQueue>, logger: ResolvedOptions['logger']) {
    this.#queues = queues;
    this.#logger = logger;
  }

  adopt(journal: Journal): void {
    for (const name of journal.sinks) {
      const queue = this.#queues.get(name);
      if (queue !== undefined) queue.attach(journal);
      else if (!this.#unclaimed.has(name)) {
        this.#unclaimed.add(name);
        this.#logger.warn(
          `defer: ${journal.folder} has jobs for the sink "${name}", which is not configured; they stay on disk. Configured: ${listSinks(this.#queues)}.`,
        );
      }
    }
  }

  /** Called when a journal has no jobs left. */
  release(journal: Journal): void {
    for (const queue of this.#queues.values()) queue.detach(journal);
  }
}
