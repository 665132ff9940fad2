import { captureAsyncContext } from '../job/async-context.ts';
import type { JobPlace, Journal } from '../journal/journal.ts';
import { jobStates } from '../journal/segment.ts';
import type { PendingJob } from './pending-job.ts';
import { Admission } from './admission.ts';
import { MemoryBudget } from './memory-budget.ts';
import { Alarm, Idleness } from './wake-up.ts';
import { Backlogs } from './backlogs.ts';
import type { Delayed } from './delayed.ts';
import { FailureBlame, CrashSuspects } from './failure-blame.ts';
import { QueueCounts, type DropReason, type JobStats, dropReasons } from './queue-counts.ts';
import { DiskReader, Parking } from './disk-reader.ts';
import { Gathering } from './gathering.ts';
import type { KeyedQueue } from './keyed-jobs.ts';
import type { ResolvedQueue } from './queue-options.ts';
import type { SinkQueueHost } from './sink-queue-core.ts';
import { SinkQueueView, type Waiting } from './sink-queue-view.ts';
import { InFlightBatches, openSink } from './in-flight.ts';
import { Results } from './results.ts';
import { LogThrottle } from '../logger.ts';

/** The queue of one sink: gathers jobs, sends the batches, and reports their outcomes. */
export class SinkQueue implements KeyedQueue {
  readonly options: ResolvedQueue;
  readonly stats: QueueCounts = new QueueCounts();
  readonly budget: MemoryBudget;
  readonly #host: SinkQueueHost;
  readonly #gathering: Gathering;
  readonly #results: Results;
  readonly #inFlight: InFlightBatches;
  readonly #failureBlame: FailureBlame;
  readonly #backlogs: Backlogs;
  readonly #diskReader: DiskReader;
  readonly #alarm: Alarm;
  /*
   * Runs outside the context of the request that happened to wake the queue: a batch belongs to no request, and anything its
   * sink opens would keep that request in memory.
   */
  readonly #pumpOutside: () => void;
  readonly #parking = new Parking();
  readonly #delayed: Delayed;
  readonly #suspects: CrashSuspects;
  readonly #admission: Admission;
  readonly #view: SinkQueueView;
  readonly #drops: Drops;
  #isClosed = false;
  #pumping: NodeJS.Immediate | undefined;
  /** Trigger of the next pump, so that another job need not be one: the alarm of a gathering batch, or another event. */
  #waitsFor: 'batch' | 'event' | undefined;
  #isOpened = false;
  /* Waits for neither unreadable nor delayed jobs. */
  readonly #idleness = new Idleness(() => this.#isEmpty());

  constructor(options: ResolvedQueue, host: SinkQueueHost) {
    this.options = options;
    this.#host = host;
    this.#inFlight = new InFlightBatches(options, host);
    this.#failureBlame = new FailureBlame(options.batchJobs);
    const outside = captureAsyncContext();
    this.#pumpOutside = () => outside(() => this.#pump());
    this.#gathering = new Gathering(options, host.clock.now(), {
      waitsForKey: (job) => this.#results.waitsForKey(job),
      keyReleased: (next) => this.#suspects.keyReleased(next) || this.#results.keyReleased(next),
    });
    this.#drops = new Drops(options.name, host, this.stats);
    this.budget = new MemoryBudget(options.maxPending, options.maxPendingBytes);
    this.#alarm = new Alarm(host.clock, () => this.#pump());
    this.#backlogs = new Backlogs(options.name, (jobs) => this.#replayed(jobs));
    this.#suspects = new CrashSuspects({
      enterKey: (job) => this.#gathering.enterKey(job),
      die: (job, error) => this.#results.die(job, error),
    });
    const parts = {
      options,
      host,
      stats: this.stats,
      gathering: this.#gathering,
      budget: this.budget,
      backlogs: this.#backlogs,
      parking: this.#parking,
      suspects: this.#suspects,
    };
    this.#results = new Results({
      ...parts,
      failureBlame: this.#failureBlame,
      breaker: this.#inFlight.breaker,
      buried: () => this.#idleness.look(),
    });
    this.#diskReader = new DiskReader({
      ...parts,
      alarm: this.#alarm,
      isClosed: () => this.#isClosed,
      isIdle: () => this.#gathering.isEmpty && this.#inFlight.size === 0,
      schedule: () => this.#schedule(),
      lost: (job) => this.drop(job, 'unreadable'),
    });
    const delayed = (this.#delayed = this.#diskReader.delayed);
    const admission = (this.#admission = new Admission({ ...parts, delayed }));
    this.#view = new SinkQueueView({ ...parts, delayed, admission, inFlight: this.#inFlight });
  }

  get name(): string {
    return this.options.name;
  }

  /** Jobs not yet delivered, including those of running requests, without delayed ones. */
  get depth(): number {
    return this.#view.depth;
  }

  /** Number of delayed jobs, and the wall clock of the next one. */
  get delayed(): { readonly jobs: number; readonly nextRunAtMs: number | undefined } {
    return { jobs: this.#delayed.length, nextRunAtMs: this.#delayed.nextRunAtMs };
  }

  get loaded(): number {
    return this.budget.loaded;
  }

  get isBreakerOpen(): boolean {
    return this.#inFlight.breaker.isOpen;
  }

  /** Reason why its jobs wait. Undefined if they do not, or their batch is gathering. */
  get waiting(): Waiting | undefined {
    return this.#view.waiting;
  }

  get jobs(): JobStats[] {
    return this.#view.jobs;
  }

  /** Wall clock of the oldest undelivered job. */
  get oldestAtMs(): number | undefined {
    return this.#view.oldestAtMs;
  }

  get isBehindSpilled(): boolean {
    return this.#admission.isBehindSpilled;
  }

  get life(): { readonly generation: string; readonly seenAtMs: number } | undefined {
    return this.#backlogs.life;
  }

  /** Counts discarded jobs that were only on disk. */
  forget(journal: Journal, jobs: number): void {
    this.stats.dropped.overflow += jobs;
    this.#backlogs.of(journal)!.waiting -= jobs;
  }

  isInFlight(job: PendingJob): boolean {
    return this.#inFlight.has(job);
  }

  giveUpInMemory(job: PendingJob): void {
    if (!job.isDelayed) return;
    this.#delayed.giveUpInMemory(job);
    this.#host.intake.obsolete(job);
    job.strip();
  }

  giveUp(place: JobPlace, job: string, isDelayed: boolean): void {
    const isWaiting = place.segment.stateOf(place.number) === jobStates.waiting;
    place.journal.done(place);
    if (isDelayed) this.#delayed.giveUpOnDisk();
    if (!isWaiting) return;
    const backlog = this.#backlogs.of(place.journal);
    if (backlog !== undefined) backlog.waiting--;
    this.stats.byName.of(job).gaveUp();
  }

  /**
   * Takes a job for the sink. A journaled one may be put back on disk if memory is full. Returns false if there is no room
   * anywhere.
   */
  enqueue(job: PendingJob): boolean {
    const where = this.#admission.admit(job);
    if (where === 'disk') {
      this.#schedule();
    } else if (where === 'memory') {
      const waitsFor = this.#waitsFor;
      if (waitsFor === undefined || (waitsFor === 'batch' && this.#gathering.isBatchDue)) {
        this.#schedule();
      }
    }
    return where !== undefined;
  }

  /** Called if a delayed job could not be written: it waits in memory. */
  takeBack(job: PendingJob): void {
    if (!this.#isClosed) this.#admission.takeBack(job);
    else this.drop(job, 'exit');
  }

  awaitOrphans(): void {
    this.#admission.awaitsOrphans = true;
  }

  /** Called when all of their journals are attached. */
  hasOrphans(): void {
    this.#admission.awaitsOrphans = false;
    this.#schedule();
  }

  /** Adds a journal that jobs also come from: this process's own, or that of an exited one. */
  attach(journal: Journal): void {
    this.#backlogs.attach(journal);
    for (const { sink, job, jobs, oldestAtMs } of journal.found) {
      if (sink === this.name) this.stats.byName.of(job).spilled(jobs, oldestAtMs);
    }
    this.#schedule();
  }

  detach(journal: Journal): void {
    this.#backlogs.detach(journal);
    this.#delayed.detach(journal);
  }

  /** The oldest job that is not being sent. */
  get oldest(): PendingJob | undefined {
    return this.#gathering.first;
  }

  spillOldest(): boolean {
    const isSpilled = this.#admission.spillOldest();
    if (isSpilled) this.#schedule();
    return isSpilled;
  }

  /** Removes the oldest job that is not being sent. */
  takeOldest(): PendingJob | undefined {
    const job = this.#gathering.takeOldest();
    if (job !== undefined) this.budget.unload(job);
    return job;
  }

  /** Reports that a job is lost. */
  drop(job: { readonly id: string; readonly job: string }, reason: DropReason): void {
    this.#drops.report(job, reason);
  }

  async open(): Promise<void> {
    if (this.#isOpened) return;
    this.#isOpened = true;
    await openSink(this.options, this.#host, {
      generation: (id) => this.#backlogs.seeGeneration(id, this.#host.clock.now()),
      available: (isAvailable) => {
        this.#inFlight.breaker.setAvailable(isAvailable);
        if (isAvailable) this.#schedule();
      },
    });
  }

  /** Sends without waiting for full batches; resolves when nothing is left or `signal` aborts. */
  async drain(signal: AbortSignal): Promise<void> {
    this.#gathering.draining++;
    this.#schedule();
    await this.#idleness.reached(signal);
    this.#gathering.draining--;
  }

  /** Stops. Returns the remaining jobs, including those being sent; their batches are aborted. */
  stop(): PendingJob[] {
    this.#isClosed = true;
    if (this.#pumping !== undefined) clearImmediate(this.#pumping);
    this.#alarm.cancel();
    this.#delayed.stop();
    const waiting = [...this.#suspects, ...this.#gathering, ...this.#parking, ...this.#delayed];
    const left = [...this.#inFlight.jobs, ...waiting];
    this.#inFlight.abort();
    return left;
  }

  async close(): Promise<void> {
    await this.options.sink.close?.();
  }

  #isEmpty(): boolean {
    const loaded = this.budget.loaded - this.#delayed.inMemory;
    return (
      this.#results.burying === 0 && loaded + this.#parking.length + this.#backlogs.waiting === 0
    );
  }

  #schedule(): void {
    if (this.#isClosed) return;
    this.#pumping ??= setImmediate(() => {
      this.#pumping = undefined;
      this.#pumpOutside();
    });
  }

  #pump(): void {
    if (this.#isClosed) return;
    const gathering = this.#gathering;
    const now = this.#host.clock.now();
    this.#waitsFor = undefined;
    gathering.takeBackDue(now);
    this.#diskReader.takeDue(now);
    const suspect = this.#suspects.next(this.#inFlight.size === 0);
    if (suspect !== undefined && !this.#sendNeeded([suspect])) {
      this.#suspects.isAlone = false;
      this.#schedule();
    }
    while (!this.#suspects.isAlone && !gathering.isEmpty && this.#inFlight.hasRoom) {
      const breakerMs = this.#inFlight.breaker.waitMs(now);
      if (breakerMs === undefined) break;
      const pauseMs = Math.max(breakerMs, gathering.pauseMs(now));
      const waitMs = pauseMs > 0 ? pauseMs : gathering.gatherMs(now);
      if (waitMs > 0) {
        this.#waitsFor = pauseMs > 0 ? 'event' : 'batch';
        this.#alarm.ringIn(waitMs, now);
        break;
      }
      const batch = gathering.take(now, this.#failureBlame.maxBatchJobs);
      this.#sendNeeded(batch);
      // One batch says as much about a failing sink as many do, and there may be many small ones.
      if (this.#inFlight.breaker.isFailing) break;
    }
    this.#results.parkWaitingForKeys();
    if (gathering.isEmpty) gathering.rest();
    else this.#waitsFor ??= 'event';
    if (!this.#admission.awaitsOrphans) this.#diskReader.readMore();
    // A timer may fire a little early.
    for (const dueAtMs of [gathering.nextDueAtMs, this.#diskReader.nextDueAtMs]) {
      if (dueAtMs !== undefined) this.#alarm.ringIn(Math.max(0, dueAtMs - now), now);
    }
    this.#idleness.look();
  }

  /* Returns false if none of them is needed any more. */
  #sendNeeded(batch: readonly PendingJob[]): boolean {
    const needed = this.#host.keyed.isUsed ? this.#results.dropObsolete(batch) : batch;
    if (needed.length > 0) void this.#send(needed);
    return needed.length > 0;
  }

  async #send(batch: readonly PendingJob[]): Promise<void> {
    this.stats.batches++;
    const outcome = await this.#inFlight.send(batch);
    // The code that stopped the queue has taken the jobs.
    if (this.#isClosed) return;
    this.#inFlight.arrived(batch);
    this.#suspects.isAlone = false;
    this.#results.ended(batch, outcome);
    this.#schedule();
  }

  #replayed(jobs: number): void {
    this.stats.replayed += jobs;
    this.#host.logger.warn(
      `defer, sink ${this.name}: its server restarted; ${jobs} jobs it had acknowledged are sent again.`,
    );
    this.#schedule();
  }
}

/** Reports lost jobs of a queue: each is counted; of many at once, the log has the first and their number. */
export class Drops {
  readonly #name: string;
  readonly #host: SinkQueueHost;
  readonly #stats: QueueCounts;
  readonly #throttle: LogThrottle;

  constructor(name: string, host: SinkQueueHost, stats: QueueCounts) {
    this.#name = name;
    this.#host = host;
    this.#stats = stats;
    this.#throttle = new LogThrottle(host.clock, (count) => {
      host.logger.warn(`defer, sink ${name}: ${count} more jobs were dropped.`);
    });
  }

  report({ id, job }: { readonly id: string; readonly job: string }, reason: DropReason): void {
    this.#stats.dropped[reason]++;
    this.#throttle.log(() => {
      this.#host.logger.warn(
        `defer, sink ${this.#name}: the job ${id} (${job}) was dropped: ${dropReasons[reason]}.`,
      );
    });
  }
}
