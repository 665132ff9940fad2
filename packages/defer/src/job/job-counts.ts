import { messageOf } from '../thrown.ts';

/** Names a sink keeps account of. A job's name is code; where it is made of data, the rest counts as one. */
const mostNames = 200;
/** What jobs of further names are counted as. */
export const otherNames = '(other)';
const mostMessageLength = 200;

/** Why a job of this name failed last. */
export interface JobFailure {
  readonly message: string;
  /** Wall clock, milliseconds since 1970. */
  readonly atMs: number;
}

/** What happened to the jobs of one name at one sink since the start, and how many of them wait. */
export class JobCounts {
  readonly name: string;
  deferred = 0;
  sent = 0;
  /** Tries that failed and are followed by another. */
  retried = 0;
  dead = 0;
  /** In memory. */
  loaded = 0;
  /** On disk alone, as far as their names are known: those of a replay count once they are read. */
  onDisk = 0;
  lastFailure: JobFailure | undefined = undefined;
  #oldestOnDiskAtMs = Infinity;

  constructor(name: string) {
    this.name = name;
  }

  get depth(): number {
    return this.loaded + this.onDisk;
  }

  /** Wall clock of the oldest job on disk alone. */
  get oldestOnDiskAtMs(): number | undefined {
    return this.onDisk === 0 ? undefined : this.#oldestOnDiskAtMs;
  }

  /** Jobs that are on disk alone from now on. */
  spilled(jobs: number, deferredAtMs: number): void {
    this.#oldestOnDiskAtMs =
      this.onDisk === 0 ? deferredAtMs : Math.min(this.#oldestOnDiskAtMs, deferredAtMs);
    this.onDisk += jobs;
  }

  /** One was read back. Those behind it are younger. */
  readBack(deferredAtMs: number): void {
    if (this.onDisk === 0) return;
    this.onDisk--;
    this.#oldestOnDiskAtMs = deferredAtMs;
  }

  /** One on disk is not needed any more. */
  gaveUp(): void {
    if (this.onDisk > 0) this.onDisk--;
  }

  failed(error: unknown, atMs: number): void {
    this.lastFailure = { message: messageOf(error).slice(0, mostMessageLength), atMs };
  }
}

/** The counts of one sink, by the names of its jobs. */
export class JobCountsByName {
  readonly #counts = new Map<string, JobCounts>();
  /* Most jobs have the name of the one before. */
  #last: JobCounts | undefined;

  of(name: string): JobCounts {
    if (this.#last?.name === name) return this.#last;
    let counts = this.#counts.get(name);
    if (counts === undefined) {
      const kept = this.#counts.size < mostNames ? name : otherNames;
      counts = this.#counts.get(kept) ?? new JobCounts(kept);
      this.#counts.set(kept, counts);
    }
    return (this.#last = counts);
  }

  /** Nothing is on disk alone: what was counted there was dropped, or cannot be read. */
  nothingOnDisk(): void {
    for (const counts of this.#counts.values()) counts.onDisk = 0;
  }

  [Symbol.iterator](): Iterator<JobCounts> {
    return this.#counts.values();
  }
}
