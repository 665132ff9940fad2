import { messageOf } from '../thrown.ts';

/** Maximum number of names counted per sink. A job's name is code; if it is built from data, the rest count as one. */
const maxNames = 200;
/** Name under which jobs of further names are counted. */
export const otherNames = '(other)';
const maxMessageLength = 200;

export interface JobFailure {
  readonly message: string;
  /** Wall clock, milliseconds since 1970. */
  readonly atMs: number;
}

/** Counts of the jobs of one name at one sink since the start, and of those that wait. */
export class JobCounts {
  readonly name: string;
  deferred = 0;
  sent = 0;
  /** Attempts that failed and are followed by another. */
  retried = 0;
  dead = 0;
  /** Jobs in memory. */
  loaded = 0;
  /** Jobs on disk only, as far as their names are known: those of a replay count once they are read. */
  onDisk = 0;
  lastFailure: JobFailure | undefined = undefined;
  #oldestOnDiskAtMs = Infinity;

  constructor(name: string) {
    this.name = name;
  }

  get depth(): number {
    return this.loaded + this.onDisk;
  }

  /** Wall clock of the oldest job that is on disk only. */
  get oldestOnDiskAtMs(): number | undefined {
    return this.onDisk === 0 ? undefined : this.#oldestOnDiskAtMs;
  }

  /** Counts jobs that are on disk only from now on. */
  spilled(jobs: number, deferredAtMs: number): void {
    this.#oldestOnDiskAtMs =
      this.onDisk === 0 ? deferredAtMs : Math.min(this.#oldestOnDiskAtMs, deferredAtMs);
    this.onDisk += jobs;
  }

  /** Counts one that was read back. Those after it are younger. */
  readBack(deferredAtMs: number): void {
    if (this.onDisk === 0) return;
    this.onDisk--;
    this.#oldestOnDiskAtMs = deferredAtMs;
  }

  /** Subtracts a job on disk that will not run. */
  gaveUp(): void {
    if (this.onDisk > 0) this.onDisk--;
  }

  failed(error: unknown, atMs: number): void {
    this.lastFailure = { message: messageOf(error).slice(0, maxMessageLength), atMs };
  }
}

/** The counts of one sink, by the names of its jobs. */
export class JobCountsByName {
  readonly #counts = new Map<string, JobCounts>();
  /* Most jobs have the same name as the previous one. */
  #last: JobCounts | undefined;

  of(name: string): JobCounts {
    if (this.#last?.name === name) return this.#last;
    let counts = this.#counts.get(name);
    if (counts === undefined) {
      const kept = this.#counts.size < maxNames ? name : otherNames;
      counts = this.#counts.get(kept) ?? new JobCounts(kept);
      this.#counts.set(kept, counts);
    }
    return (this.#last = counts);
  }

  /** Resets the counts of jobs on disk: they were dropped, or cannot be read. */
  nothingOnDisk(): void {
    for (const counts of this.#counts.values()) counts.onDisk = 0;
  }

  [Symbol.iterator](): Iterator<JobCounts> {
    return this.#counts.values();
  }
}
