import type { DeferError } from '../errors.ts';
import type { Journal } from '../journal/journal.ts';
import { ReadBack, type ReadBackJob } from '../journal/read-back.ts';
import { jobStates } from '../journal/segment.ts';

/** Jobs read from a backlog; `lost` counts unreadable ones, `trouble` names what is retried. */
export interface BacklogChunk {
  readonly jobs: readonly ReadBackJob[];
  readonly lost: number;
  readonly trouble?: DeferError;
}

/** A journal's jobs for one queue that are only on disk. */
export class Backlog {
  readonly journal: Journal;
  waiting = 0;
  /** Jobs in currently unreadable segments, which do not count as waiting. */
  stuck = 0;
  /** Wall clock of the oldest of them, as far as it is known. */
  oldestAtMs: number | undefined = undefined;
  /** True if some of them may have been at the sink before. */
  isReplayed = false;
  readonly #reader: ReadBack;
  #hasRewound = false;

  constructor(journal: Journal, sink: string) {
    this.journal = journal;
    this.#reader = new ReadBack(journal, sink);
    const index = journal.sinkIndex(sink);
    for (const segment of journal.segments) {
      for (let at = 0; at < segment.length; at++) {
        const job = segment.firstJob + at;
        if (segment.stateOf(job) === jobStates.waiting && segment.sinkOf(job) === index) {
          this.waiting++;
        }
      }
    }
    // It is unknown which jobs an exited process had already sent.
    this.isReplayed = this.waiting > 0;
  }

  /** Counts one more job that is only on disk. */
  add(deferredAtMs: number): void {
    if (this.waiting++ === 0) this.oldestAtMs = deferredAtMs;
    this.#hasRewound = false;
  }

  /** Rewinds: jobs before the current reading position wait again. */
  replayed(jobs: number): void {
    this.waiting += jobs;
    this.isReplayed = true;
    this.#hasRewound = false;
    this.#reader.rewind();
  }

  /** Reads some jobs, oldest first. Returns none if the rest is not written yet; `lost` counts unreadable ones. */
  async take(maxJobs: number, maxLength: number): Promise<BacklogChunk> {
    // Jobs that become readable meanwhile prove nothing about an earlier pass.
    const mayMiss = this.journal.hasUnwritten;
    const { jobs, failed } = await this.#reader.read(maxJobs, maxLength);
    this.waiting -= jobs.length;
    if (failed !== undefined) {
      const { error, segment } = failed;
      const isGone = (error.cause as NodeJS.ErrnoException).code === 'ENOENT';
      const lost = isGone ? this.#reader.giveUp(segment) : 0;
      this.waiting -= lost;
      this.#setStuckAside();
      return { jobs, lost, trouble: error };
    }
    if (jobs.length > 0) {
      this.#hasRewound = false;
      this.oldestAtMs = this.waiting > 0 ? jobs.at(-1)!.record.deferredAtMs : undefined;
      if (this.waiting === 0) this.isReplayed = false;
      return { jobs, lost: 0 };
    }
    if (this.waiting === 0) return { jobs, lost: 0 };
    if (mayMiss || this.journal.hasUnwritten) {
      this.#reader.rewind();
      return { jobs, lost: 0 };
    }
    if (!this.#hasRewound) {
      this.#hasRewound = true;
      this.#reader.rewind();
      return this.take(maxJobs, maxLength);
    }
    // Nothing was added since a whole pass began: the counted jobs are gone, or were never written.
    this.#setStuckAside();
    this.#reader.dropMissing();
    const lost = this.waiting;
    this.waiting = 0;
    this.#hasRewound = false;
    return { jobs, lost };
  }

  /** Retries unreadable segments. */
  retryStuck(): void {
    if (this.stuck === 0) return;
    this.waiting += this.stuck;
    this.stuck = 0;
    this.#hasRewound = false;
    this.#reader.retryUnreadable();
  }

  #setStuckAside(): void {
    const { stuck } = this.#reader;
    this.waiting -= stuck - this.stuck;
    this.stuck = stuck;
  }
}
