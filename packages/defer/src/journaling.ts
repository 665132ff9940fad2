import type { AcknowledgeLimit } from './acknowledge-limit.ts';
import type { Clock } from './clock.ts';
import { DeferError } from './errors.ts';
import { encodeJobRecord } from './journal/job-record.ts';
import type { JournalRoot } from './journal/journal-root.ts';
import type { DeferLogger, JournalOptions } from './options.ts';
import type { PendingJob } from './pending-job.ts';
import { closedError } from './refusals.ts';

/** The way of jobs into the journal: when it is full, when it fails, and at the end. */
export class Journaling {
  readonly #root: JournalRoot;
  readonly #options: Required<JournalOptions>;
  readonly #clock: Clock;
  readonly #logger: DeferLogger;
  readonly #limit: AcknowledgeLimit;
  /** Jobs that wait for the journal to have room. */
  readonly #blocked: PendingJob[] = [];
  #isWatching = false;

  constructor(
    root: JournalRoot,
    options: Required<JournalOptions>,
    clock: Clock,
    logger: DeferLogger,
    limit: AcknowledgeLimit,
  ) {
    this.#root = root;
    this.#options = options;
    this.#clock = clock;
    this.#logger = logger;
    this.#limit = limit;
  }

  /**
   * Gives the job to the journal, and has it told when its level is reached.
   *
   * @throws {DeferError} ERR_REDLINE_DEFER_FULL
   */
  add(job: PendingJob): void {
    const refusal = this.#offer(job);
    if (refusal === undefined) return;
    job.lane.stats.rejected++;
    throw refusal;
  }

  /** The same where no call is left that could throw: the job is told. It stays in memory, if there is room. */
  addLate(job: PendingJob): void {
    const refusal = this.#offer(job);
    if (refusal !== undefined) job.acknowledge(refusal);
  }

  #offer(job: PendingJob): DeferError | undefined {
    if (this.#root.hasRoom() || this.#makeRoom(job)) return void this.#append(job);
    if (job.lane.options.overflow === 'block') return void this.#block(job);
    return new DeferError(
      'ERR_REDLINE_DEFER_FULL',
      `The journal ${this.#options.directory} has reached its maxBytes, ${this.#options.maxBytes}.`,
    );
  }

  #append(job: PendingJob): void {
    const root = this.#root;
    try {
      job.place = root.own.append(job.sink, encodeJobRecord(job));
    } catch (error) {
      return job.acknowledge(this.failed(job, error));
    }
    if (job.level === 'memory') return;
    root.own.wait(job.level === 'disk' ? 'disk' : 'process', job);
  }

  /* At the cost of the oldest jobs of its sink, where that is what the lane asks for. */
  #makeRoom({ lane }: PendingJob): boolean {
    const root = this.#root;
    if (lane.options.overflow !== 'drop-oldest') return false;
    while (!root.hasRoom()) {
      const dropped = root.dropOldest(lane.name);
      if (dropped === undefined) return false;
      lane.forget(dropped.journal, dropped.jobs);
    }
    return true;
  }

  #block(job: PendingJob): void {
    this.#blocked.push(job);
    this.#limit.watch(job);
    this.#watchQuota();
  }

  #watchQuota(): void {
    if (this.#isWatching || this.#blocked.length === 0) return;
    this.#isWatching = true;
    this.#clock.after(
      100,
      () => {
        this.#isWatching = false;
        while (this.#blocked.length > 0 && this.#root.hasRoom()) {
          const job = this.#blocked.shift()!;
          if (job.isFinished) job.acknowledge(undefined);
          else if (!job.isAcknowledged) this.#append(job);
        }
        this.#watchQuota();
      },
      true,
    );
  }

  /** What a job is when it could not be written: an error, or undefined where that is acceptable. */
  failed(job: PendingJob, error: unknown): unknown {
    // It stays in memory, and is delivered from there. Whether that will do is the app's to say.
    job.place = undefined;
    return this.#options.onFailure === 'degrade' ? undefined : error;
  }

  /** At the end: the sink has not taken the job, and the next process will find it. */
  keep(job: PendingJob): void {
    try {
      job.place = this.#root.own.append(job.sink, encodeJobRecord(job));
      // It was deferred, and is safe; but the level `sink` has not been reached.
      job.acknowledge(job.level === 'sink' ? closedError() : undefined);
    } catch (error) {
      job.lane.drop(job, 'exit');
      this.#logger.warn(`defer: the job ${job.id} (${job.job}) could not be journaled.`, error);
    }
  }
}
