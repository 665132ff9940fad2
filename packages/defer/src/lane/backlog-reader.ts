import type { Backlog, BacklogChunk } from './backlog.ts';
import type { Backlogs } from './backlogs.ts';
import type { ResolvedLane } from './lane-options.ts';
import type { Room } from './room.ts';

const mostReadAtOnce = 1_000;

/** Who gets what was read. */
interface Receiver {
  /** `isReplayed`: some of them may have been at the sink before. */
  read(chunk: BacklogChunk, isReplayed: boolean, backlog: Backlog): void;
  failed(error: unknown): void;
}

/** Reads jobs that are on disk alone, as soon as half of the room is free. */
export class BacklogReader {
  readonly #options: ResolvedLane;
  readonly #room: Room;
  readonly #backlogs: Backlogs;
  readonly #receiver: Receiver;
  #isReading = false;

  constructor(options: ResolvedLane, room: Room, backlogs: Backlogs, receiver: Receiver) {
    this.#options = options;
    this.#room = room;
    this.#backlogs = backlogs;
    this.#receiver = receiver;
  }

  readMore(): void {
    if (this.#isReading) return;
    const { maxPending, maxPendingBytes } = this.#options;
    const { loaded, loadedLength } = this.#room;
    const jobs = Math.min(mostReadAtOnce, Math.floor(maxPending / 2) - loaded, maxPending);
    const length = maxPendingBytes / 2 - loadedLength;
    const backlog = this.#backlogs.oldest();
    if (backlog === undefined || length <= 0) return;
    if (jobs <= 0 && loaded > 0) return;
    this.#isReading = true;
    void this.#readFrom(backlog, Math.max(1, jobs), length);
  }

  async #readFrom(backlog: Backlog, maxJobs: number, maxLength: number): Promise<void> {
    // Asked before: what is read may be the last of what was replayed.
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
