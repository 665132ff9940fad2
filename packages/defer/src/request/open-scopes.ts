import type {
  AcknowledgementListener,
  PendingJob,
  PendingOutcome,
} from '../sink-queue/pending-job.ts';

export interface Linked<Item> {
  before: Item | undefined;
  after: Item | undefined;
  isListed: boolean;
}

/**
 * The open requests. A list whose links are in its items, not a Set: tables that a Set has outgrown stay in V8's old
 * generation until the next full collection, and everything they held is moved there too, including all of the request.
 */
export class OpenScopes<Item extends Linked<Item>> {
  #first: Item | undefined;
  #last: Item | undefined;

  get oldest(): Item | undefined {
    return this.#last;
  }

  add(item: Item): void {
    if (item.isListed) return;
    item.isListed = true;
    item.after = this.#first;
    if (this.#first === undefined) this.#last = item;
    else this.#first.before = item;
    this.#first = item;
  }

  remove(item: Item): void {
    if (!item.isListed) return;
    item.isListed = false;
    const { before, after } = item;
    if (before !== undefined) before.after = after;
    else this.#first = after;
    if (after !== undefined) after.before = before;
    else this.#last = before;
    // An item that was moved to the old generation would keep its neighbours.
    item.before = undefined;
    item.after = undefined;
  }

  /** Returns a copy: each item may be removed while it is visited. */
  all(): Item[] {
    const items: Item[] = [];
    for (let item = this.#first; item !== undefined; item = item.after) items.push(item);
    return items;
  }

  some(isSo: (item: Item) => boolean): boolean {
    for (let item = this.#first; item !== undefined; item = item.after) {
      if (isSo(item)) return true;
    }
    return false;
  }
}

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
