import { DeferError } from '../errors.ts';
import type { Journal } from '../journal/journal.ts';
import { PendingJob } from '../pending-job.ts';
import type { DeliveryResult, SinkHost } from '../sink.ts';
import { Alarm } from './alarm.ts';
import { backoffMs } from './backoff.ts';
import type { BacklogChunk } from './backlog.ts';
import { BacklogReader } from './backlog-reader.ts';
import { Backlogs } from './backlogs.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import { Deque } from './deque.ts';
import { DueHeap } from './due-heap.ts';
import { KeyOrder } from './key-order.ts';
import type { ResolvedLane } from './lane-options.ts';
import type { JobHome, LaneHost } from './lane-host.ts';
import { LaneStats, type DropReason } from './lane-stats.ts';
import { RateLimit } from './rate-limit.ts';
import { Room } from './room.ts';
import { sendBatch } from './send-batch.ts';

const readAgainMs = 1_000;

/** The way to one sink: gathers batches, sends them, and sends again what did not arrive. */
export class Lane {
  readonly options: ResolvedLane;
  readonly home: JobHome;
  readonly stats: LaneStats = new LaneStats();
  readonly #host: LaneHost;
  readonly #queue = new Deque<PendingJob>();
  readonly #retrying = new DueHeap<PendingJob>();
  readonly #keys = new KeyOrder<PendingJob>();
  readonly #onTheirWay = new Set<readonly PendingJob[]>();
  readonly #backlogs: Backlogs;
  readonly #reader: BacklogReader;
  readonly #room: Room;
  readonly #alarm: Alarm;
  readonly #breaker: CircuitBreaker;
  readonly #rate: RateLimit | undefined;
  readonly #aborts = new Set<AbortController>();
  #sendingLength = 0;
  /** Jobs being put with the dead letters. */
  #dying = 0;
  #gatheringSinceMs: number | undefined;
  /** Where order counts: when the job at the front may be tried again. */
  #heldUntilMs = 0;
  #isUrgent = false;
  #isDraining = false;
  #isClosed = false;
  #pumping: NodeJS.Immediate | undefined;
  /** What will bring the next pump, so that a job more need not: the alarm of a batch that gathers, or some other event. */
  #waitsFor: 'batch' | 'event' | undefined;
  #isOpened = false;
  #idle: (() => void)[] = [];

  constructor(options: ResolvedLane, host: LaneHost) {
    this.options = options;
    this.#host = host;
    this.home = host;
    this.#breaker = new CircuitBreaker(options.breakerFailures, options.breaker, host.random);
    const { rate } = options;
    this.#rate = rate && new RateLimit(rate.jobs, rate.perMs, host.clock.now());
    this.#room = new Room(options.maxPending, options.maxPendingBytes);
    this.#alarm = new Alarm(host.clock, () => this.#pump());
    this.#backlogs = new Backlogs(options.name, (jobs) => this.#replayed(jobs));
    this.#reader = new BacklogReader(options, this.#room, this.#backlogs, {
      read: (chunk, isReplayed, { journal }) => this.#takeIn(chunk, isReplayed, journal),
      failed: (error) => {
        host.logger.warn(`defer, sink ${this.name}: its jobs cannot be read back.`, error);
        this.#alarm.ringIn(readAgainMs, host.clock.now());
      },
    });
  }

  get name(): string {
    return this.options.name;
  }

  /** Jobs not at the sink yet, those of running requests among them. */
  get depth(): number {
    return this.#room.loaded + this.#room.reserved + this.#backlogs.waiting;
  }

  /** Jobs in memory. */
  get loaded(): number {
    return this.#room.loaded;
  }

  get isBreakerOpen(): boolean {
    return this.#breaker.isOpen;
  }

  /** Wall clock of the oldest job that is not at the sink yet. */
  get oldestAtMs(): number | undefined {
    let oldest = this.#queue.peek()?.deferredAtMs;
    const compare = (atMs: number | undefined): void => {
      if (atMs !== undefined && (oldest === undefined || atMs < oldest)) oldest = atMs;
    };
    for (const batch of this.#onTheirWay) compare(batch[0]?.deferredAtMs);
    for (const { oldestAtMs } of this.#backlogs) compare(oldestAtMs);
    for (const job of this.#retrying) compare(job.deferredAtMs);
    return oldest;
  }

  /** True when a job more would be more than the options allow in memory. */
  get isFull(): boolean {
    return this.#room.isFull;
  }

  reserve(): void {
    this.#room.reserve();
  }

  unreserve(): void {
    this.#room.unreserve();
  }

  /** How many wait for room. */
  get blocked(): number {
    return this.#room.blocked;
  }

  /** Jobs that were on disk alone are thrown away. */
  forget(journal: Journal, jobs: number): void {
    this.stats.dropped.overflow += jobs;
    this.#backlogs.of(journal)!.waiting -= jobs;
  }

  /** Calls back when there is room again, first come, first served. */
  whenRoom(callback: () => void): void {
    this.#room.whenFree(callback);
  }

  /** Takes a job to the sink. One that the journal has may be put back there for want of room. */
  enqueue(job: PendingJob): void {
    this.stats.deferred++;
    const { place } = job;
    if (place !== undefined && job.level !== 'sink' && this.#mustSpill(place.journal)) {
      place.journal.unload(place);
      this.#backlogs.of(place.journal)!.add(job.deferredAtMs);
      this.stats.spilled++;
      this.#schedule();
      return;
    }
    // The journal could not take it, and memory has no room: nobody may count on it, and nothing grows for it.
    if (place === undefined && job.isJournaled && this.isFull) return this.drop(job, 'overflow');
    if (job.level === 'sink') this.#isUrgent = true;
    this.#room.load(job);
    this.#queue.push(job);
    this.#gatheringSinceMs ??= this.#host.clock.now();
    if (this.#waitsFor === undefined || (this.#waitsFor === 'batch' && this.#isBatchDue())) {
      this.#schedule();
    }
  }

  /** Jobs come from this journal too: this process's own, or one whose process is gone. */
  attach(journal: Journal): void {
    this.#backlogs.attach(journal);
    this.#schedule();
  }

  /** The journal is finished. */
  detach(journal: Journal): void {
    this.#backlogs.detach(journal);
  }

  /** Throws away the oldest job that is not on its way. False when there is none. */
  dropOldest(): boolean {
    const job = this.#queue.shift();
    if (job === undefined) return false;
    this.drop(job, 'overflow');
    this.#room.unload(job);
    this.#passKey(job);
    return true;
  }

  /** Counts a job as lost. */
  drop(job: PendingJob, reason: DropReason): void {
    this.stats.dropped[reason]++;
    job.place?.journal.done(job.place);
    job.acknowledge(
      new DeferError('ERR_REDLINE_DEFER_FULL', `The job ${job.id} (${job.job}) was dropped.`),
    );
  }

  /** For `PendingJob`: the journal has written or synced it, or could not. */
  committed(job: PendingJob, error: unknown): void {
    if (error === undefined) return job.acknowledge(undefined);
    job.acknowledge(this.#host.journalFailed(job, error));
  }

  /** Opens the sink. */
  async open(): Promise<void> {
    if (this.#isOpened) return;
    this.#isOpened = true;
    const { sink, name, ordered } = this.options;
    const { logger } = this.#host;
    const host: SinkHost = {
      name,
      ordered,
      generation: (id) => this.#backlogs.seeGeneration(id),
      available: (isAvailable) => {
        this.#breaker.setAvailable(isAvailable);
        if (isAvailable) this.#schedule();
      },
      warn: (message, error) => logger.warn(`defer, sink ${name}: ${message}`, error),
    };
    try {
      await sink.open?.(host);
    } catch (error) {
      logger.warn(`defer, sink ${name}: it could not be opened; it is tried again.`, error);
    }
  }

  /** Sends without waiting for full batches from now on; resolves when nothing is left or `signal` aborts. */
  async drain(signal: AbortSignal): Promise<void> {
    this.#isDraining = true;
    this.#schedule();
    while (!this.#isEmpty() && !signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#idle.push(resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    }
  }

  /** Stops. What is left, jobs on their way included, is returned; their batches are aborted. */
  stop(): PendingJob[] {
    this.#isClosed = true;
    if (this.#pumping !== undefined) clearImmediate(this.#pumping);
    this.#alarm.cancel();
    const left = [
      ...[...this.#onTheirWay].flat(),
      ...this.#queue,
      ...this.#keys,
      ...this.#retrying,
    ];
    for (const abort of this.#aborts) abort.abort();
    return left;
  }

  async close(): Promise<void> {
    await this.options.sink.close?.();
  }

  #isEmpty(): boolean {
    return this.#dying === 0 && this.depth - this.#room.reserved === 0;
  }

  /* First in, first out: behind a job that is on disk alone, the next ones are too. */
  #mustSpill(journal: Journal): boolean {
    if (this.isFull) return true;
    return this.#backlogs.of(journal)!.waiting > 0;
  }

  #schedule(): void {
    if (this.#isClosed) return;
    this.#pumping ??= setImmediate(() => {
      this.#pumping = undefined;
      this.#pump();
    });
  }

  #pump(): void {
    if (this.#isClosed) return;
    const { options } = this;
    const now = this.#host.clock.now();
    this.#waitsFor = undefined;
    this.#takeBackDue(now);
    while (this.#queue.length > 0 && this.#onTheirWay.size < options.inFlight) {
      const breakerMs = this.#breaker.waitMs(now);
      if (breakerMs === undefined) break;
      const waitMs = Math.max(breakerMs, this.#heldUntilMs - now);
      if (waitMs > 0) {
        this.#alarm.ringIn(waitMs, now);
        break;
      }
      const gatherMs = this.#gatherMs(now);
      if (gatherMs > 0) {
        this.#waitsFor = 'batch';
        this.#alarm.ringIn(gatherMs, now);
        break;
      }
      const batch = this.#takeBatch(now);
      if (batch.length === 0) break;
      void this.#send(batch);
    }
    if (this.#queue.length === 0) {
      this.#gatheringSinceMs = undefined;
      this.#isUrgent = false;
    } else {
      this.#waitsFor ??= 'event';
    }
    this.#reader.readMore();
    const next = this.#retrying.peek();
    if (next !== undefined) this.#alarm.ringIn(Math.max(0, next.dueAtMs - now), now);
    this.#tellIdle();
  }

  /** How long the batch that gathers may still wait. */
  #gatherMs(now: number): number {
    if (this.#isBatchDue()) return 0;
    this.#gatheringSinceMs ??= now;
    return Math.max(0, this.#gatheringSinceMs + this.options.batchWaitMs - now);
  }

  /** True when the batch that gathers need not wait for more. */
  #isBatchDue(): boolean {
    const { batchJobs, batchBytes, batchWaitMs } = this.options;
    if (this.#isUrgent || this.#isDraining || batchWaitMs === 0) return true;
    if (this.#queue.length >= batchJobs) return true;
    return this.#room.loadedLength - this.#sendingLength >= batchBytes;
  }

  #takeBatch(now: number): PendingJob[] {
    const { batchJobs, batchBytes, ordered } = this.options;
    const wanted = Math.min(batchJobs, this.#queue.length);
    const allowed = this.#rate?.take(wanted, now) ?? wanted;
    const batch: PendingJob[] = [];
    let length = 0;
    while (batch.length < allowed) {
      const job = this.#queue.peek();
      if (job === undefined) break;
      if (batch.length > 0 && length + job.length > batchBytes) break;
      this.#queue.shift();
      if (ordered === 'key' && !this.#keys.enter(job)) continue;
      batch.push(job);
      length += job.length;
    }
    this.#rate?.giveBack(allowed - batch.length);
    if (allowed < wanted) this.#alarm.ringIn(this.#rate!.waitMs(now), now);
    this.#gatheringSinceMs = this.#queue.length > 0 ? now : undefined;
    return batch;
  }

  async #send(batch: readonly PendingJob[]): Promise<void> {
    this.#onTheirWay.add(batch);
    let sendingLength = 0;
    for (const job of batch) sendingLength += job.length;
    this.#sendingLength += sendingLength;
    this.#breaker.began();
    this.stats.batches++;
    const abort = new AbortController();
    this.#aborts.add(abort);
    const outcome = await sendBatch(this.options, batch, this.#host.clock, abort);
    this.#aborts.delete(abort);
    // Whoever stopped the lane has taken the jobs.
    if (this.#isClosed) return;
    this.#onTheirWay.delete(batch);
    this.#sendingLength -= sendingLength;
    if (outcome.failure === undefined) this.#arrived(batch, outcome.results);
    else this.#failed(batch, outcome.failure.error);
    this.#schedule();
  }

  #arrived(batch: readonly PendingJob[], results: readonly DeliveryResult[] | undefined): void {
    const { logger, clock } = this.#host;
    if (this.#breaker.succeeded()) logger.log(`defer, sink ${this.name}: it is back.`);
    const wallMs = clock.wall();
    const now = clock.now();
    const again: PendingJob[] = [];
    for (let at = 0; at < batch.length; at++) {
      const job = batch[at]!;
      const result = results?.[at];
      if (result === undefined) this.#delivered(job, wallMs);
      else if (result.kind === 'dead') this.#dies(job, result.error);
      else if (this.options.ordered === true && again.length > 0) again.push(job);
      else if (job.attempt >= this.options.attempts) this.#dies(job, result.error);
      else {
        this.stats.retried++;
        const waitMs = backoffMs(this.options.retry, job.attempt, this.#host.random);
        job.attempt++;
        job.redelivered = true;
        job.dueAtMs = now + Math.max(waitMs, result.afterMs ?? 0);
        again.push(job);
      }
    }
    if (again.length === 0) return;
    if (this.options.ordered === true) {
      // The first one is waited for, and everything behind it waits with it.
      for (let at = again.length - 1; at >= 0; at--) this.#queue.unshift(again[at]!);
      this.#heldUntilMs = again[0]!.dueAtMs;
    } else {
      for (const job of again) this.#retrying.push(job);
    }
  }

  #delivered(job: PendingJob, wallMs: number): void {
    this.stats.sent++;
    this.stats.addLag(wallMs - job.deferredAtMs);
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
    this.stats.dead++;
    this.#dying++;
    const cause = { cause: error };
    this.#finish(job);
    this.#host
      .bury(job, error)
      .then(
        () => job.place?.journal.done(job.place),
        (reason: unknown) => {
          this.#host.logger.warn(
            `defer, sink ${this.name}: the job ${job.id} (${job.job}) died, and could not be put with the dead letters. ${job.place === undefined ? 'It is lost.' : 'It stays in the journal.'}`,
            reason,
          );
        },
      )
      .finally(() => {
        this.#dying--;
        if (!job.isJournaled) {
          const sentence = `The job ${job.id} (${job.job}) cannot be done by the sink ${this.name}.`;
          job.acknowledge(new DeferError('ERR_REDLINE_DEFER_DEAD', sentence, cause));
        }
        this.#tellIdle();
      });
  }

  /* The sink is not there: its jobs come first again, in their order. */
  #failed(batch: readonly PendingJob[], error: unknown): void {
    const { clock, logger } = this.#host;
    this.stats.failures++;
    this.stats.resent += batch.length;
    for (let at = batch.length - 1; at >= 0; at--) {
      const job = batch[at]!;
      job.redelivered = true;
      this.#queue.unshift(job);
    }
    if (this.#breaker.failed(clock.now())) {
      logger.warn(
        `defer, sink ${this.name}: it is not there; its jobs wait, and it is asked now and then.`,
        error,
      );
    }
  }

  /** The job is not in memory any more. */
  #finish(job: PendingJob): void {
    job.isFinished = true;
    this.#room.unload(job);
    this.#passKey(job);
  }

  #passKey(job: PendingJob): void {
    if (this.options.ordered !== 'key') return;
    const next = this.#keys.leave(job);
    if (next !== undefined) this.#queue.unshift(next);
  }

  #takeBackDue(now: number): void {
    for (;;) {
      const job = this.#retrying.peek();
      if (job === undefined || job.dueAtMs > now) return;
      this.#retrying.pop();
      this.#queue.unshift(job);
    }
  }

  /* Read back from disk. */
  #takeIn({ jobs, lost }: BacklogChunk, isReplayed: boolean, journal: Journal): void {
    if (this.#isClosed) return;
    for (const { place, record } of jobs) {
      const job = PendingJob.fromRecord(this, record, this.#host.restoreFrom(record.context));
      job.place = place;
      job.redelivered = isReplayed;
      this.#room.load(job);
      this.#queue.push(job);
    }
    if (lost > 0) {
      this.stats.dropped.unreadable += lost;
      this.#host.logger.warn(
        `defer, sink ${this.name}: ${lost} jobs cannot be read back from ${journal.folder}.`,
        new DeferError('ERR_REDLINE_DEFER_DAMAGED', 'Their bytes are not what was written.'),
      );
    }
    this.#schedule();
  }

  #replayed(jobs: number): void {
    this.stats.replayed += jobs;
    this.#host.logger.warn(
      `defer, sink ${this.name}: its server began anew; ${jobs} jobs it had acknowledged are sent again.`,
    );
    this.#schedule();
  }

  #tellIdle(): void {
    if (this.#idle.length === 0 || !this.#isEmpty()) return;
    const idle = this.#idle;
    this.#idle = [];
    for (const resolve of idle) resolve();
  }
}
