import type { Acknowledgement, PendingJob, Settling } from '../lane/pending-job.ts';

/** A job of one of the open requests, or of none: it is not known which. */
interface Entry {
  readonly number: number;
  readonly responses: Acknowledgement[];
}

/**
 * Jobs whose request is unknown, because they were deferred outside of every request's context or in that of a request
 * that has its response. Each response that was not complete when such a job was deferred may be the one that claims it:
 * so it waits for the level, and fails with it.
 */
export class Unattributed {
  /** The number of the last of them. */
  last = 0;
  readonly #pending = new Set<Entry>();
  #lastFailed = 0;
  #failure: unknown;

  add(job: Settling): void {
    const entry: Entry = { number: ++this.last, responses: [] };
    this.#pending.add(entry);
    job.tell({ acknowledged: (error) => this.#settled(entry, error) });
  }

  /** A response that has waited up to the job `since` must wait for one of the later ones, or fail with it. */
  concerns(since: number): boolean {
    if (since === this.last) return false;
    if (this.#lastFailed > since) return true;
    for (const { number } of this.#pending) if (number > since) return true;
    return false;
  }

  /** Tells `response` of each job behind `since`. Returns how often it will be told. */
  tell(since: number, response: Acknowledgement): number {
    let count = 0;
    for (const { number, responses } of this.#pending) {
      if (number <= since) continue;
      responses.push(response);
      count++;
    }
    return count;
  }

  /** Why a response that has waited up to the job `since` must not claim success, though nothing is pending. */
  failureSince(since: number): unknown {
    return this.#lastFailed > since ? this.#failure : undefined;
  }

  #settled(entry: Entry, error: unknown): void {
    this.#pending.delete(entry);
    if (error !== undefined && entry.number > this.#lastFailed) {
      this.#lastFailed = entry.number;
      this.#failure = error;
    }
    for (const response of entry.responses) response.acknowledged(error);
  }
}

/**
 * A job for `when: 'aborted'` whose request is unknown: it runs if one of the requests that may have deferred it is
 * aborted, and is withdrawn when none was.
 */
export class SharedAbort {
  readonly #job: PendingJob;
  #candidates: number;

  constructor(job: PendingJob, candidates: number) {
    this.#job = job;
    this.#candidates = candidates;
  }

  /** One of them has ended. True once when the job may be decided on. */
  ended(isAborted: boolean): 'runs' | 'withdrawn' | undefined {
    if (this.#candidates === 0) return undefined;
    this.#candidates--;
    if (isAborted) this.#candidates = 0;
    if (this.#candidates > 0) return undefined;
    return isAborted ? 'runs' : 'withdrawn';
  }

  get job(): PendingJob {
    return this.#job;
  }
}
