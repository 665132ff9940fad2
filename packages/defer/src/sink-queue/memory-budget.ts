import type { PendingJob } from './pending-job.ts';

/** Tracks the memory of a queue's jobs, its limits, and the callbacks that wait for room. */
export class MemoryBudget {
  readonly #maxJobs: number;
  readonly #maxLength: number;
  readonly #blocked: (() => void)[] = [];
  /** Jobs in memory: queued, parked, waiting for a retry, on their way. */
  loaded = 0;
  loadedLength = 0;
  /** Jobs of requests that have not ended. */
  reserved = 0;

  constructor(maxJobs: number, maxLength: number) {
    this.#maxJobs = maxJobs;
    this.#maxLength = maxLength;
  }

  get isFull(): boolean {
    return this.loaded + this.reserved >= this.#maxJobs || this.loadedLength >= this.#maxLength;
  }

  /** Number of callbacks that wait. */
  get blocked(): number {
    return this.#blocked.length;
  }

  /** Calls back when there is room again, first come, first served. */
  whenFree(callback: () => void): void {
    this.#blocked.push(callback);
  }

  load(job: PendingJob): void {
    this.loaded++;
    this.loadedLength += job.length;
    job.counts!.loaded++;
  }

  unload(job: PendingJob): void {
    this.loaded--;
    this.loadedLength -= job.length;
    job.counts!.loaded--;
    this.#unblock();
  }

  reserve(): void {
    this.reserved++;
  }

  unreserve(): void {
    this.reserved--;
    this.#unblock();
  }

  #unblock(): void {
    while (this.#blocked.length > 0 && !this.isFull) this.#blocked.shift()!();
  }
}
