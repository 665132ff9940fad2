import type { PendingJob } from './pending-job.ts';
import type { DeliveryResult } from '../sink.ts';
import { backoffMs } from './backoff.ts';
import type { Backlogs } from './backlogs.ts';
import type { Gathering } from './gathering.ts';
import type { LaneHost } from './lane-host.ts';
import type { ResolvedLane } from './lane-options.ts';
import type { LaneStats } from './lane-stats.ts';
import type { Parking } from './parking.ts';
import type { Room } from './room.ts';
import type { LaneCore } from './lane-core.ts';

/** Jobs behind others with their keys that are only on disk: about 40 MB. */
const mostBehind = 100_000;

/** The part of a lane that a job's end touches. */
export interface ResultsParts extends LaneCore {
  readonly parking: Parking;
  /** A job has become a dead letter, or could not. */
  buried(): void;
}

/** Applies the results of a batch to its jobs: each is delivered, retried, or a dead letter. */
export class Results {
  readonly #options: ResolvedLane;
  readonly #host: LaneHost;
  readonly #stats: LaneStats;
  readonly #gathering: Gathering;
  readonly #room: Room;
  readonly #backlogs: Backlogs;
  readonly #parking: Parking;
  readonly #buried: () => void;
  /** Jobs in memory that wait for another with their key. */
  readonly #behind = new Set<PendingJob>();
  #burying = 0;

  constructor(parts: ResultsParts) {
    this.#options = parts.options;
    this.#host = parts.host;
    this.#stats = parts.stats;
    this.#gathering = parts.gathering;
    this.#room = parts.room;
    this.#backlogs = parts.backlogs;
    this.#parking = parts.parking;
    this.#buried = parts.buried;
  }

  /** Jobs being written as dead letters. */
  get burying(): number {
    return this.#burying;
  }

  /** The sink has responded; without results, all jobs are done. */
  settle(batch: readonly PendingJob[], results: readonly DeliveryResult[] | undefined): void {
    const { clock, random } = this.#host;
    const { ordered, attempts, retry, sink } = this.#options;
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
        this.#stats.retried++;
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
    if (inMemory.length > 0) this.#gathering.retry(inMemory);
  }

  /** The sink is unavailable: its jobs come again in their order, before all others or behind them. */
  putBack(batch: readonly PendingJob[], where: 'first' | 'last'): void {
    this.#stats.failures++;
    this.#stats.resent += batch.length;
    for (const job of batch) job.redelivered = true;
    if (where === 'first') this.#gathering.putFirst(batch);
    else this.#gathering.putLast(batch);
  }

  #delivered(job: PendingJob, wallMs: number): void {
    this.#stats.sent++;
    job.counts!.sent++;
    this.#stats.addLag(wallMs - job.waitsSinceMs);
    this.#finish(job);
    // Only for a sink that would report it can the job be sent again.
    this.#host.desk.delivered(job, this.#backlogs.hasGeneration);
  }

  /*
   * A failing kind of job must not take all the room: a quarter of a lane's jobs in memory may wait for another
   * attempt. The others wait on disk; without one, half may wait in memory.
   */
  #park(job: PendingJob, more: number): boolean {
    const { ordered, maxPending } = this.#options;
    if (ordered === true || this.#gathering.retrying + more < maxPending / 4) return false;
    if (!this.#putOnDisk(job)) return false;
    this.#parking.park(job);
    return true;
  }

  /** The job waits for another with its key. */
  waits(job: PendingJob): void {
    this.#behind.add(job);
  }

  /** Its turn has come. True if it is read back first. */
  comes(job: PendingJob): boolean {
    this.#behind.delete(job);
    return this.#parking.callUp(job);
  }

  /** A key may fail for long, and jobs that wait for it must not take the room of others either. */
  parkBehind(): void {
    const { maxPending } = this.#options;
    if (this.#behind.size === 0) return;
    for (const job of this.#behind) {
      // Even on disk, each takes a little memory.
      if (this.#parking.behind >= mostBehind) return;
      if (this.#behind.size <= maxPending / 8) return;
      const { place } = job;
      if (!this.#putOnDisk(job)) {
        // Its write has just been asked for: the next pass parks it.
        if (place === undefined && job.place !== undefined) continue;
        return;
      }
      this.#behind.delete(job);
      this.#parking.parkBehind(job);
    }
  }

  /* Not while its write, which may fail, is still to come. */
  #putOnDisk(job: PendingJob): boolean {
    const { place } = job;
    if (place !== undefined && place.offset >= place.segment.bytes) return false;
    if (!this.#host.desk.shelve(job) || place === undefined) return false;
    this.#room.unload(job);
    job.counts!.spilled(1, job.deferredAtMs);
    return true;
  }

  #hasRoomFor(job: PendingJob): boolean {
    const { ordered, maxPending } = this.#options;
    if (ordered === true || this.#gathering.retrying < maxPending / 2) return true;
    return this.#host.desk.shelve(job);
  }

  /** Without those that are not to be sent any more. */
  dropObsolete(batch: readonly PendingJob[]): readonly PendingJob[] {
    if (!batch.some(({ isObsolete }) => isObsolete)) return batch;
    return batch.filter((job) => {
      if (!job.isObsolete) return true;
      this.#finish(job);
      this.#host.desk.obsolete(job);
      return false;
    });
  }

  /** The job can never succeed. */
  die(job: PendingJob, error: unknown): void {
    this.#stats.dead++;
    job.counts!.dead++;
    job.counts!.failed(error, this.#host.clock.wall());
    this.#burying++;
    this.#finish(job);
    void this.#host.desk.died(job, error).finally(() => {
      this.#burying--;
      this.#buried();
    });
  }

  /** The job is no longer in memory. */
  #finish(job: PendingJob): void {
    this.#room.unload(job);
    this.#gathering.release(job);
  }
}
