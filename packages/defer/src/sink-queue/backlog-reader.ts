import type { Backlog, BacklogChunk } from './backlog.ts';
import type { Backlogs } from './backlogs.ts';
import type { ResolvedQueue } from './lane-options.ts';
import type { MemoryBudget } from './memory-budget.ts';

const maxReadAtOnce = 1_000;

/** Receives the jobs that were read. */
interface Receiver {
  /** `isReplayed`: some of them may have been at the sink before. */
  read(chunk: BacklogChunk, isReplayed: boolean, backlog: Backlog): void;
  failed(error: unknown): void;
}

/** Reads jobs that are only on disk, as soon as half of the room is free. */
export class BacklogReader {
  readonly #options: ResolvedQueue;
  readonly #budget: MemoryBudget;
  readonly #backlogs: Backlogs;
  readonly #receiver: Receiver;
  #isReading = false;

  constructor(
    options: ResolvedQueue,
    budget: MemoryBudget,
    backlogs: Backlogs,
    receiver: Receiver,
  ) {
    this.#options = options;
    this.#budget = budget;
    this.#backlogs = backlogs;
    this.#receiver = receiver;
  }

  readMore(): void {
    if (this.#isReading) return;
    const { maxPending, maxPendingBytes } = this.#options;
    const { loaded, loadedLength } = this.#budget;
    const jobs = Math.min(maxReadAtOnce, Math.floor(maxPending / 2) - loaded, maxPending);
    const length = maxPendingBytes / 2 - loadedLength;
    const backlog = this.#backlogs.oldest();
    if (backlog === undefined || length <= 0) return;
    if (jobs <= 0 && loaded > 0) return;
    this.#isReading = true;
    void this.#readFrom(backlog, Math.max(1, jobs), length);
  }

  async #readFrom(backlog: Backlog, maxJobs: number, maxLength: number): Promise<void> {
    // Read first: the jobs taken may be the last of the replayed ones.
    const { isReplayed } = backlog;
    try {
      const chunk = await backlog.take(maxJobs, maxLength);
      this.#receiver.read(chunk, isReplayed, backlog);
    } catch (error) {
      this.#receiver.failed(error);
    }
    this.#isReading = false;
  }
}
