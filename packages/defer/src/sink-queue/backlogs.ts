import type { DeferError } from '../errors.ts';
import type { Journal } from '../journal/journal.ts';
import { ReadBack, type ReadBackJob } from '../journal/read-back.ts';
import { jobStates } from '../journal/segment.ts';
import type { ResolvedQueue } from './queue-options.ts';
import type { MemoryBudget } from './memory-budget.ts';

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

/** A queue's jobs that are only on disk, in the journal of this process and in those it has adopted. */
export class Backlogs {
  readonly #sink: string;
  readonly #replayed: (jobs: number) => void;
  readonly #backlogs: Backlog[] = [];
  #generation: string | undefined;
  #seenAtMs = 0;

  constructor(sink: string, replayed: (jobs: number) => void) {
    this.#sink = sink;
    this.#replayed = replayed;
  }

  get waiting(): number {
    let waiting = 0;
    for (const backlog of this.#backlogs) waiting += backlog.waiting;
    return waiting;
  }

  get stuck(): number {
    let stuck = 0;
    for (const backlog of this.#backlogs) stuck += backlog.stuck;
    return stuck;
  }

  retryStuck(): void {
    for (const backlog of this.#backlogs) backlog.retryStuck();
  }

  /** True if the sink's server may come back with less than it had acknowledged, and would report it. */
  get hasGeneration(): boolean {
    return this.#generation !== undefined;
  }

  [Symbol.iterator](): Iterator<Backlog> {
    return this.#backlogs.values();
  }

  of(journal: Journal): Backlog | undefined {
    return this.#backlogs.find((backlog) => backlog.journal === journal);
  }

  attach(journal: Journal): void {
    const backlog = new Backlog(journal, this.#sink);
    journal.watch(this.#sink);
    this.#backlogs.push(backlog);
    if (this.#generation !== undefined) this.#replayWhereOld(backlog, this.#generation);
  }

  detach(journal: Journal): void {
    const at = this.#backlogs.findIndex((backlog) => backlog.journal === journal);
    if (at !== -1) this.#backlogs.splice(at, 1);
  }

  /** Returns the backlog to read from: those of other processes first, in the order in which they began. */
  oldest(): Backlog | undefined {
    let own: Backlog | undefined;
    for (const backlog of this.#backlogs) {
      if (backlog.waiting === 0) continue;
      if (backlog.journal.isAdopted) return backlog;
      own = backlog;
    }
    return own;
  }

  /** Current lifetime of the sink's server, if it reports one, and the time it was last seen. */
  get life(): { readonly generation: string; readonly seenAtMs: number } | undefined {
    if (this.#generation === undefined) return undefined;
    return { generation: this.#generation, seenAtMs: this.#seenAtMs };
  }

  /** Called when the sink's server has responded. */
  seeAlive(now: number): void {
    this.#seenAtMs = now;
    for (const { journal } of this.#backlogs) journal.seeAlive(this.#sink, now);
  }

  seeGeneration(generation: string, now: number): void {
    if (this.#generation === generation) return this.seeAlive(now);
    this.#generation = generation;
    for (const backlog of this.#backlogs) this.#replayWhereOld(backlog, generation);
    this.seeAlive(now);
  }

  /* This lifetime of the server may lack what its last one acknowledged. */
  #replayWhereOld(backlog: Backlog, generation: string): void {
    const { journal } = backlog;
    const { generations } = journal;
    const last = generations[this.#sink];
    generations[this.#sink] = generation;
    if (last === undefined || last === generation) return;
    const replayed = journal.replay(this.#sink);
    if (replayed === 0) return;
    backlog.replayed(replayed);
    this.#replayed(replayed);
  }
}

const maxReadAtOnce = 1_000;

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
