import type { Clock } from '../clock.ts';
import type { PendingJob } from './pending-job.ts';
import { Deque, DueHeap } from './deque-and-heap.ts';
import type { ResolvedQueue } from './queue-options.ts';

/** Handles jobs that wait for another with their key. */
export interface KeyWaitListener {
  /** Called when the job begins to wait. */
  waitsForKey(job: PendingJob): void;
  /** Called when its turn has come. Returns true if it arrives by itself. */
  keyReleased(job: PendingJob): boolean;
}

/** The waiting jobs of a queue, gathered into batches by count, bytes, time, rate, and order. */
export class Gathering {
  readonly #options: ResolvedQueue;
  readonly #queue = new Deque<PendingJob>();
  readonly #retrying = new DueHeap<PendingJob>();
  readonly #keys = new KeyOrder<PendingJob>();
  readonly #rate: RateLimit | undefined;
  readonly #keyWaitListener: KeyWaitListener;
  /** Characters of the jobs in the queue. */
  #queuedLength = 0;
  #gatheringSinceMs: number | undefined;
  /** If order counts: time at which the job at the front may be retried. */
  #heldUntilMs = 0;
  /** True until the queue is empty. */
  #isUrgent = false;
  /** Above 0, no batch waits to be full. */
  draining = 0;

  constructor(options: ResolvedQueue, now: number, keyWaitListener: KeyWaitListener) {
    this.#options = options;
    this.#keyWaitListener = keyWaitListener;
    const { rate } = options;
    this.#rate = rate && new RateLimit(rate.jobs, rate.perMs, now);
  }

  /** True if no job could be in a batch, even one sent at once. */
  get isEmpty(): boolean {
    return this.#queue.length === 0;
  }

  get retrying(): number {
    return this.#retrying.length;
  }

  get waitingForKeys(): number {
    return this.#keys.waiting;
  }

  /** Remaining wait, if order counts, of the job at the front and of all jobs after it, for its next attempt. */
  heldMs(now: number): number {
    return Math.max(0, this.#heldUntilMs - now);
  }

  /** Time at which the next failed job may be retried. */
  get nextDueAtMs(): number | undefined {
    return this.#retrying.peek()?.dueAtMs;
  }

  /** Wall clock of the oldest job that waits. */
  get oldestAtMs(): number | undefined {
    let oldest = this.#queue.peek()?.waitsSinceMs;
    for (const { waitsSinceMs } of this.#retrying) {
      if (oldest === undefined || waitsSinceMs < oldest) oldest = waitsSinceMs;
    }
    return oldest;
  }

  *[Symbol.iterator](): Generator<PendingJob> {
    yield* this.#queue;
    yield* this.#keys;
    yield* this.#retrying;
  }

  /** The next job to be sent. */
  get first(): PendingJob | undefined {
    return this.#queue.peek();
  }

  push(job: PendingJob, clock: Clock): void {
    if (job.level === 'sink') this.#isUrgent = true;
    this.#queue.push(job);
    this.#queuedLength += job.length;
    // Reading the clock costs as much as everything else here.
    this.#gatheringSinceMs ??= clock.now();
  }

  /** Puts jobs before all others, in their order. */
  putFirst(jobs: readonly PendingJob[]): void {
    for (let at = jobs.length - 1; at >= 0; at--) this.#unshift(jobs[at]!);
  }

  putLast(jobs: readonly PendingJob[]): void {
    for (const job of jobs) {
      this.#queue.push(job);
      this.#queuedLength += job.length;
    }
  }

  /** Retries failed jobs when each is due; where order counts, those after the first one wait with it. */
  retry(jobs: readonly PendingJob[]): void {
    if (this.#options.ordered === true) {
      this.putFirst(jobs);
      this.#heldUntilMs = jobs[0]!.dueAtMs;
    } else {
      for (const job of jobs) this.#retrying.push(job);
    }
  }

  /** Takes the key for a job that leaves on its own. Returns false if it has to wait for another with its key. */
  enterKey(job: PendingJob): boolean {
    return this.#options.ordered !== 'key' || this.#keys.enter(job);
  }

  /** Called when the job is done: the next one with its key may be sent. */
  release(job: PendingJob): void {
    if (this.#options.ordered !== 'key') return;
    const next = this.#keys.leave(job);
    if (next !== undefined && !this.#keyWaitListener.keyReleased(next)) this.#unshift(next);
  }

  /** Removes the oldest job for good. */
  takeOldest(): PendingJob | undefined {
    const job = this.#queue.shift();
    if (job === undefined) return undefined;
    this.#queuedLength -= job.length;
    this.release(job);
    return job;
  }

  /** Takes back the jobs whose next attempt is due. */
  takeBackDue(now: number): void {
    for (;;) {
      const job = this.#retrying.peek();
      if (job === undefined || job.dueAtMs > now) return;
      this.#retrying.pop();
      this.#unshift(job);
    }
  }

  /** Milliseconds during which no batch may leave, because of order or rate. */
  pauseMs(now: number): number {
    const heldMs = this.heldMs(now);
    return this.#rate === undefined ? heldMs : Math.max(heldMs, this.#rate.waitMs(now));
  }

  /** Returns how long the gathering batch may still wait. */
  gatherMs(now: number): number {
    if (this.isBatchDue) return 0;
    this.#gatheringSinceMs ??= now;
    return Math.max(0, this.#gatheringSinceMs + this.#options.batchWaitMs - now);
  }

  /** True if the gathering batch need not wait for more. */
  get isBatchDue(): boolean {
    const { batchJobs, batchBytes, batchWaitMs } = this.#options;
    if (this.#isUrgent || this.draining > 0 || batchWaitMs === 0) return true;
    return this.#queue.length >= batchJobs || this.#queuedLength >= batchBytes;
  }

  /** Takes the next batch of at most `maxJobs` jobs. Empty if each waiting job waits for another with its key. */
  take(now: number, maxJobs: number): readonly PendingJob[] {
    const { batchJobs, batchBytes, ordered } = this.#options;
    const wanted = Math.min(batchJobs, maxJobs, this.#queue.length);
    const allowed = this.#rate?.take(wanted, now) ?? wanted;
    const batch: PendingJob[] = [];
    let length = 0;
    while (batch.length < allowed) {
      const job = this.#queue.peek();
      if (job === undefined) break;
      if (batch.length > 0 && (length + job.length > batchBytes || job.goesAlone)) break;
      this.#queue.shift();
      this.#queuedLength -= job.length;
      if (ordered === 'key' && !this.#keys.enter(job)) {
        this.#keyWaitListener.waitsForKey(job);
        continue;
      }
      batch.push(job);
      length += job.length;
      if (job.goesAlone) break;
    }
    this.#rate?.giveBack(allowed - batch.length);
    this.#gatheringSinceMs = this.isEmpty ? undefined : now;
    return batch;
  }

  /** Called when the queue is empty: resets its urgency and its waiting time. */
  rest(): void {
    this.#gatheringSinceMs = undefined;
    this.#isUrgent = false;
  }

  #unshift(job: PendingJob): void {
    this.#queue.unshift(job);
    this.#queuedLength += job.length;
  }
}

/** A token bucket: `jobs` within any `perMs`, and as many at once after a pause. */
export class RateLimit {
  readonly #jobs: number;
  readonly #perMs: number;
  #tokens: number;
  #atMs: number;

  constructor(jobs: number, perMs: number, now: number) {
    this.#jobs = jobs;
    this.#perMs = perMs;
    this.#tokens = jobs;
    this.#atMs = now;
  }

  /** Takes up to `wanted` jobs. Returns how many may be sent now. */
  take(wanted: number, now: number): number {
    this.#fill(now);
    const taken = Math.min(wanted, Math.floor(this.#tokens));
    this.#tokens -= taken;
    return taken;
  }

  giveBack(jobs: number): void {
    this.#tokens = Math.min(this.#jobs, this.#tokens + jobs);
  }

  /** Milliseconds until the next job may be sent. */
  waitMs(now: number): number {
    this.#fill(now);
    return this.#tokens >= 1 ? 0 : ((1 - this.#tokens) * this.#perMs) / this.#jobs;
  }

  #fill(now: number): void {
    this.#tokens = Math.min(
      this.#jobs,
      this.#tokens + ((now - this.#atMs) * this.#jobs) / this.#perMs,
    );
    this.#atMs = now;
  }
}

/** Admits one job of each key at a time, the others in order of arrival. */
export class KeyOrder<T extends { readonly key: string | undefined; holdsKey: boolean }> {
  readonly #queues = new Map<string, T[]>();
  #waiting = 0;

  get waiting(): number {
    return this.#waiting;
  }

  /** Returns false if the job has to wait; `leave` returns it later. */
  enter(job: T): boolean {
    if (job.key === undefined || job.holdsKey) return true;
    const queue = this.#queues.get(job.key);
    if (queue !== undefined) {
      queue.push(job);
      this.#waiting++;
      return false;
    }
    this.#queues.set(job.key, []);
    job.holdsKey = true;
    return true;
  }

  /** Called when the job is done. Returns the next one with its key, which now holds it. */
  leave(job: T): T | undefined {
    if (!job.holdsKey || job.key === undefined) return undefined;
    job.holdsKey = false;
    const next = this.#queues.get(job.key)?.shift();
    if (next === undefined) {
      this.#queues.delete(job.key);
      return undefined;
    }
    this.#waiting--;
    next.holdsKey = true;
    return next;
  }

  *[Symbol.iterator](): Generator<T> {
    for (const queue of this.#queues.values()) yield* queue;
  }
}
