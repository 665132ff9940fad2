import { DeferError } from '../errors.ts';
import type { PendingJob } from '../pending-job.ts';
import type { DeliveryResult } from '../sink.ts';
import { backoffMs } from './backoff.ts';
import type { Backlogs } from './backlogs.ts';
import type { Gathering } from './gathering.ts';
import type { LaneHost } from './lane-host.ts';
import type { ResolvedLane } from './lane-options.ts';
import type { LaneStats } from './lane-stats.ts';
import type { Room } from './room.ts';

/** What a batch's results do to its jobs: each is at its sink, tried again, or a dead letter. */
export class Results {
  readonly #options: ResolvedLane;
  readonly #host: LaneHost;
  readonly #stats: LaneStats;
  readonly #gathering: Gathering;
  readonly #room: Room;
  readonly #backlogs: Backlogs;
  readonly #buried: () => void;
  #burying = 0;

  /** `buried` is called when a job lies with the dead letters, or could not be put there. */
  constructor(
    options: ResolvedLane,
    host: LaneHost,
    stats: LaneStats,
    gathering: Gathering,
    room: Room,
    backlogs: Backlogs,
    buried: () => void,
  ) {
    this.#options = options;
    this.#host = host;
    this.#stats = stats;
    this.#gathering = gathering;
    this.#room = room;
    this.#backlogs = backlogs;
    this.#buried = buried;
  }

  /** Jobs being put with the dead letters. */
  get burying(): number {
    return this.#burying;
  }

  /** The sink has answered; without results, all jobs are through. */
  settle(batch: readonly PendingJob[], results: readonly DeliveryResult[] | undefined): void {
    const { clock, random } = this.#host;
    const { ordered, attempts, retry } = this.#options;
    const wallMs = clock.wall();
    const now = clock.now();
    const again: PendingJob[] = [];
    for (let at = 0; at < batch.length; at++) {
      const job = batch[at]!;
      const result = results?.[at];
      if (result === undefined) this.#delivered(job, wallMs);
      else if (result.kind === 'dead') this.#dies(job, result.error);
      else if (ordered === true && again.length > 0) again.push(job);
      else if (result.isUntried === true) {
        job.dueAtMs = now + (result.afterMs ?? retry.minMs);
        again.push(job);
      } else if (job.attempt >= attempts) this.#dies(job, result.error);
      else {
        this.#stats.retried++;
        const waitMs = backoffMs(retry, job.attempt, random);
        job.attempt++;
        job.redelivered = true;
        job.dueAtMs = now + Math.max(waitMs, result.afterMs ?? 0);
        again.push(job);
      }
    }
    if (again.length > 0) this.#gathering.retry(again);
  }

  /** The sink is not there: its jobs come first again, in their order. */
  putBack(batch: readonly PendingJob[]): void {
    this.#stats.failures++;
    this.#stats.resent += batch.length;
    for (const job of batch) job.redelivered = true;
    this.#gathering.putFirst(batch);
  }

  #delivered(job: PendingJob, wallMs: number): void {
    this.#stats.sent++;
    this.#stats.addLag(wallMs - job.deferredAtMs);
    const { place } = job;
    if (place !== undefined) {
      const { journal } = place;
      // Only a sink that would say so can be asked to take it again.
      if (this.#backlogs.hasGeneration && journal.settings.replayWindowMs > 0) journal.sent(place);
      else journal.done(place);
    }
    this.#finish(job);
    // A level below is reached when the journal says so, even where the sink was faster.
    if (!job.isJournaled) job.acknowledge(undefined);
  }

  #dies(job: PendingJob, error: unknown): void {
    const { name } = this.#options;
    this.#stats.dead++;
    this.#burying++;
    this.#finish(job);
    this.#host
      .bury(job, error)
      .then(
        () => job.place?.journal.done(job.place),
        (reason: unknown) => {
          this.#host.logger.warn(
            `defer, sink ${name}: the job ${job.id} (${job.job}) died, and could not be put with the dead letters. ${job.place === undefined ? 'It is lost.' : 'It stays in the journal.'}`,
            reason,
          );
        },
      )
      .finally(() => {
        this.#burying--;
        if (!job.isJournaled) {
          const sentence = `The job ${job.id} (${job.job}) cannot be done by the sink ${name}.`;
          job.acknowledge(new DeferError('ERR_REDLINE_DEFER_DEAD', sentence, { cause: error }));
        }
        this.#buried();
      });
  }

  /** The job is not in memory any more. */
  #finish(job: PendingJob): void {
    job.isFinished = true;
    this.#room.unload(job);
    this.#gathering.release(job);
  }
}
