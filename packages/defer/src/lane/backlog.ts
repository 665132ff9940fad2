import type { DeferError } from '../errors.ts';
import type { Journal } from '../journal/journal.ts';
import { ReadBack, type ReadBackJob } from '../journal/read-back.ts';
import { jobStates } from '../journal/segment.ts';

/** What was read of one; `lost` counts what cannot be read, `trouble` says what is tried again. */
export interface BacklogChunk {
  readonly jobs: readonly ReadBackJob[];
  readonly lost: number;
  readonly trouble?: DeferError;
}

/** A journal's jobs for one lane that are on disk alone. */
export class Backlog {
  readonly journal: Journal;
  waiting = 0;
  /** Those in segments that cannot be read for now, which do not count as waiting. */
  stuck = 0;
  /** Wall clock of the oldest of them, as far as it is known. */
  oldestAtMs: number | undefined = undefined;
  /** Some of them may have been at the sink before. */
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
    // Of a process that is gone nobody knows what it had sent already.
    this.isReplayed = this.waiting > 0;
  }

  /** One more job is on disk alone. */
  add(deferredAtMs: number): void {
    if (this.waiting++ === 0) this.oldestAtMs = deferredAtMs;
    this.#hasRewound = false;
  }

  /** Jobs behind the place where reading stands wait again. */
  replayed(jobs: number): void {
    this.waiting += jobs;
    this.isReplayed = true;
    this.#hasRewound = false;
    this.#reader.rewind();
  }

  /** Some jobs, oldest first. None, when what is left is not written yet; `lost` counts what cannot be read. */
  async take(maxJobs: number, maxLength: number): Promise<BacklogChunk> {
    // What becomes readable meanwhile proves nothing about a pass that began before.
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
    // Nothing was added since a whole pass began: what was counted is gone, or was never written.
    this.#setStuckAside();
    this.#reader.dropMissing();
    const lost = this.waiting;
    this.waiting = 0;
    this.#hasRewound = false;
    return { jobs, lost };
  }

  /** Tries again what could not be read. */
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
