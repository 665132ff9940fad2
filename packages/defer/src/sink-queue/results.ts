import type { PendingJob } from './pending-job.ts';
import { retry as retryLater, type DeliveryResult } from '../sink.ts';
import { backoffMs, type CircuitBreaker } from './circuit-breaker.ts';
import type { FailureBlame } from './failure-blame.ts';
import type { SinkQueueCore } from './sink-queue-core.ts';
import type { Parking } from './disk-reader.ts';
import type { BatchOutcome } from './in-flight.ts';

/** Maximum number of jobs that wait for others with their keys and are only on disk: about 40 MB. */
const maxWaitingForKeys = 100_000;

/** The part of a queue that the end of a job affects. */
export interface ResultsParts extends SinkQueueCore {
  readonly parking: Parking;
  readonly failureBlame: FailureBlame;
  readonly breaker: CircuitBreaker;
  /** Called when a job has become a dead letter, or could not. */
  buried(): void;
}

/** Applies the outcomes of batches: the sink is available or not, and each job is delivered, retried, or a dead letter. */
export class Results {
  readonly #parts: ResultsParts;
  /** Jobs in memory that wait for another with their key. */
  readonly #waitingForKey = new Set<PendingJob>();
  #burying = 0;

  constructor(parts: ResultsParts) {
    this.#parts = parts;
  }

  /** Jobs being written as dead letters. */
  get burying(): number {
    return this.#burying;
  }

  ended(batch: readonly PendingJob[], outcome: BatchOutcome): void {
    if (outcome.failure !== undefined) return this.#failed(batch, outcome.failure.error);
    const { logger, clock } = this.#parts.host;
    this.#parts.backlogs.seeAlive(clock.now());
    this.#parts.failureBlame.succeeded();
    const outageMs = this.#parts.breaker.succeeded(clock.now());
    if (outageMs !== undefined) {
      logger.log(
        `defer, sink ${this.#parts.options.name}: available again after ${Math.round(outageMs)} ms.`,
      );
    }
    this.#applyResults(batch, outcome.results);
  }

  #failed(batch: readonly PendingJob[], error: unknown): void {
    // If order counts, only the first batch can probe the sink.
    const blame =
      this.#parts.options.ordered === true ? 'sink' : this.#parts.failureBlame.failed(batch);
    if (blame === 'job') {
      this.#applyResults(batch, [retryLater(error)]);
      this.#parts.breaker.ended();
      return;
    }
    this.#putBack(batch, blame === 'sink' ? 'first' : 'last');
    if (this.#parts.breaker.failed(this.#parts.host.clock.now(), error)) {
      this.#parts.host.logger.warn(
        `defer, sink ${this.#parts.options.name}: unavailable; its jobs wait, and it is retried periodically.`,
        error,
      );
    }
  }

  /* The sink has responded; without results, all jobs are done. */
  #applyResults(
    batch: readonly PendingJob[],
    results: readonly DeliveryResult[] | undefined,
  ): void {
    const { clock, random } = this.#parts.host;
    const { ordered, attempts, retry, sink } = this.#parts.options;
    const wallMs = clock.wall();
    const now = clock.now();
    const again: PendingJob[] = [];
    const runsHere = sink.runsHere === true;
    for (let at = 0; at < batch.length; at++) {
      const job = batch[at]!;
      const result = results?.[at];
      if (result === undefined) this.#delivered(job, wallMs);
      else if (result.kind === 'dead') this.die(job, result.error);
      else if (ordered === true && again.length > 0) again.push(job);
      else if (result.isUntried === true && !(runsHere && !this.#hasRoomFor(job))) {
        job.dueAtMs = now + (result.afterMs ?? retry.minMs);
        again.push(job);
      } else if (job.attempt >= attempts || !this.#hasRoomFor(job)) this.die(job, result.error);
      else {
        this.#parts.stats.retried++;
        job.counts!.retried++;
        job.counts!.failed(result.error, wallMs);
        const waitMs = backoffMs(retry, job.attempt, random);
        job.attempt++;
        job.place?.journal.failed(job.place);
        job.redelivered = true;
        job.dueAtMs = now + Math.max(waitMs, result.afterMs ?? 0);
        again.push(job);
      }
    }
    const inMemory: PendingJob[] = [];
    for (const job of again) if (!this.#park(job, inMemory.length)) inMemory.push(job);
    if (inMemory.length > 0) this.#parts.gathering.retry(inMemory);
  }

  /* The sink is unavailable: its jobs are sent again in order, before or after all others. */
  #putBack(batch: readonly PendingJob[], where: 'first' | 'last'): void {
    this.#parts.stats.failures++;
    this.#parts.stats.resent += batch.length;
    for (const job of batch) job.redelivered = true;
    if (where === 'first') this.#parts.gathering.putFirst(batch);
    else this.#parts.gathering.putLast(batch);
  }

  #delivered(job: PendingJob, wallMs: number): void {
    this.#parts.stats.sent++;
    job.counts!.sent++;
    this.#parts.stats.addLag(wallMs - job.waitsSinceMs);
    this.#finish(job);
    // The job can be sent again only if its sink would report a restart.
    this.#parts.host.intake.delivered(job, this.#parts.backlogs.hasGeneration);
  }

  /*
   * A failing kind of job must not take all the room: a quarter of a queue's jobs in memory may wait for another
   * attempt. The others wait on disk; without a journal, half may wait in memory.
   */
  #park(job: PendingJob, more: number): boolean {
    const { ordered, maxPending } = this.#parts.options;
    if (ordered === true || this.#parts.gathering.retrying + more < maxPending / 4) return false;
    if (!this.#putOnDisk(job)) return false;
    this.#parts.parking.park(job);
    return true;
  }

  waitsForKey(job: PendingJob): void {
    this.#waitingForKey.add(job);
  }

  keyReleased(job: PendingJob): boolean {
    this.#waitingForKey.delete(job);
    return this.#parts.parking.keyReleased(job);
  }

  /** Moves waiting jobs to disk: a key may fail for long, and the jobs that wait for it must not take the room of others. */
  parkWaitingForKeys(): void {
    const { maxPending } = this.#parts.options;
    if (this.#waitingForKey.size === 0) return;
    for (const job of this.#waitingForKey) {
      // Even on disk, each takes a little memory.
      if (this.#parts.parking.waitingForKeys >= maxWaitingForKeys) return;
      if (this.#waitingForKey.size <= maxPending / 8) return;
      const { place } = job;
      if (!this.#putOnDisk(job)) {
        // Its write has just been requested: the next pass parks it.
        if (place === undefined && job.place !== undefined) continue;
        return;
      }
      this.#waitingForKey.delete(job);
      this.#parts.parking.parkForKey(job);
    }
  }

  /* Returns false while its write, which may fail, is pending. */
  #putOnDisk(job: PendingJob): boolean {
    const { place } = job;
    if (place !== undefined && place.offset >= place.segment.bytes) return false;
    if (!this.#parts.host.intake.shelve(job) || place === undefined) return false;
    this.#parts.budget.unload(job);
    job.counts!.spilled(1, job.deferredAtMs);
    return true;
  }

  #hasRoomFor(job: PendingJob): boolean {
    const { ordered, maxPending } = this.#parts.options;
    if (ordered === true || this.#parts.gathering.retrying < maxPending / 2) return true;
    return this.#parts.host.intake.shelve(job);
  }

  dropObsolete(batch: readonly PendingJob[]): readonly PendingJob[] {
    if (!batch.some(({ isObsolete }) => isObsolete)) return batch;
    return batch.filter((job) => {
      if (!job.isObsolete) return true;
      this.#finish(job);
      this.#parts.host.intake.obsolete(job);
      return false;
    });
  }

  /** Makes a job that can never succeed a dead letter. */
  die(job: PendingJob, error: unknown): void {
    this.#parts.stats.dead++;
    job.counts!.dead++;
    job.counts!.failed(error, this.#parts.host.clock.wall());
    this.#burying++;
    this.#finish(job);
    void this.#parts.host.intake.died(job, error).finally(() => {
      this.#burying--;
      this.#parts.buried();
    });
  }

  /** Called when the job is no longer in memory. */
  #finish(job: PendingJob): void {
    this.#parts.budget.unload(job);
    this.#parts.gathering.release(job);
  }
}
