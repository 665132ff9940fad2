import type {
  AcknowledgementListener,
  PendingJob,
  PendingOutcome,
} from '../sink-queue/pending-job.ts';

/** A job of one of the open requests, or of none: it is unknown which. */
interface Entry {
  readonly number: number;
  readonly responses: AcknowledgementListener[];
}

/**
 * Jobs whose request is unknown, because they were deferred outside every request's context or in that of a request
 * that has its response. Each response that was not complete when such a job was deferred may be the one that claims it,
 * so it waits for the job's level, and fails with it.
 */
export class Unattributed {
  /** Number of the latest job. */
  last = 0;
  readonly #pending = new Set<Entry>();
  #lastFailed = 0;
  #failure: unknown;

  add(job: PendingOutcome): void {
    const entry: Entry = { number: ++this.last, responses: [] };
    this.#pending.add(entry);
    job.whenSettled({ acknowledged: (error) => this.#settled(entry, error) });
  }

  /** True if a response that has waited up to the job `since` must wait for a later one, or fail with it. */
  concerns(since: number): boolean {
    if (since === this.last) return false;
    if (this.#lastFailed > since) return true;
    for (const { number } of this.#pending) if (number > since) return true;
    return false;
  }

  /** Registers `response` for each pending job after `since`. Returns the number of notifications to come. */
  addListener(since: number, response: AcknowledgementListener): number {
    let count = 0;
    for (const { number, responses } of this.#pending) {
      if (number <= since) continue;
      responses.push(response);
      count++;
    }
    return count;
  }

  /** Returns the reason why a response that has waited up to the job `since` must not claim success, though nothing is pending. */
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
 * aborted, and is withdrawn otherwise.
 */
export class SharedAbort {
  readonly #job: PendingJob;
  #candidates: number;

  constructor(job: PendingJob, candidates: number) {
    this.#job = job;
    this.#candidates = candidates;
  }

  /** Called when one of the requests has ended. Returns a verdict once, when the job can be decided on. */
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
