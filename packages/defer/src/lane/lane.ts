import { captureAsyncContext } from '../job/async-context.ts';
import type { JobPlace, Journal } from '../journal/journal.ts';
import { jobStates } from '../journal/segment.ts';
import type { PendingJob } from './pending-job.ts';
import { retry } from '../sink.ts';
import { Admission } from './admission.ts';
import { Alarm } from './alarm.ts';
import { Backlogs } from './backlogs.ts';
import type { Delayed } from './delayed.ts';
import { Doubt } from './doubt.ts';
import { Drops } from './drops.ts';
import { FromDisk } from './from-disk.ts';
import { Gathering } from './gathering.ts';
import type { KeyedLane } from './keyed-jobs.ts';
import type { ResolvedLane } from './lane-options.ts';
import type { LaneHost } from './lane-host.ts';
import { LaneView } from './lane-view.ts';
import { LaneStats, type DropReason } from './lane-stats.ts';
import { OnTheirWay } from './on-their-way.ts';
import { openSink } from './open-sink.ts';
import { Parking } from './parking.ts';
import { Results } from './results.ts';
import { Room } from './room.ts';
import { Suspects } from './suspects.ts';
import type { JobStats } from './job-stats.ts';
import type { Waiting } from './waiting.ts';

/** The queue of one sink: gathers jobs, sends the batches, and reports their outcomes. */
export class Lane implements KeyedLane {
  readonly options: ResolvedLane;
  readonly stats: LaneStats = new LaneStats();
  readonly #host: LaneHost;
  readonly #gathering: Gathering;
  readonly #results: Results;
  readonly #onTheirWay: OnTheirWay;
  readonly #doubt: Doubt;
  readonly #backlogs: Backlogs;
  readonly #fromDisk: FromDisk;
  readonly #room: Room;
  readonly #alarm: Alarm;
  /*
   * Not in the context of the request that happened to wake the lane: a batch belongs to no request, and anything its
   * sink opens would keep that request in memory.
   */
  readonly #pumpOutside: () => void;
  readonly #parking = new Parking();
  readonly #delayed: Delayed;
  readonly #suspects: Suspects;
  readonly #admission: Admission;
  readonly #view: LaneView;
  readonly #drops: Drops;
  #isClosed = false;
  #pumping: NodeJS.Immediate | undefined;
  /** What triggers the next pump, so that another job need not: the alarm of a gathering batch, or another event. */
  #waitsFor: 'batch' | 'event' | undefined;
  #isOpened = false;
  #idle: (() => void)[] = [];

  constructor(options: ResolvedLane, host: LaneHost) {
    this.options = options;
    this.#host = host;
    this.#onTheirWay = new OnTheirWay(options, host);
    this.#doubt = new Doubt(options.batchJobs);
    const outside = captureAsyncContext();
    this.#pumpOutside = () => outside(() => this.#pump());
    this.#gathering = new Gathering(options, host.clock.now(), {
      waits: (behind) => this.#results.waits(behind),
      comes: (next) => this.#suspects.comes(next) || this.#results.comes(next),
    });
    this.#drops = new Drops(options.name, host, this.stats);
    this.#room = new Room(options.maxPending, options.maxPendingBytes);
    this.#alarm = new Alarm(host.clock, () => this.#pump());
    this.#backlogs = new Backlogs(options.name, (jobs) => this.#replayed(jobs));
    this.#suspects = new Suspects({
      enterKey: (job) => this.#gathering.enterKey(job),
      die: (job, error) => this.#results.die(job, error),
    });
    const parts = {
      options,
      host,
      stats: this.stats,
      gathering: this.#gathering,
      room: this.#room,
      backlogs: this.#backlogs,
      parking: this.#parking,
      suspects: this.#suspects,
    };
    this.#results = new Results({ ...parts, buried: () => this.#tellIdle() });
    this.#fromDisk = new FromDisk({
      ...parts,
      alarm: this.#alarm,
      isClosed: () => this.#isClosed,
      isIdle: () => this.#gathering.isEmpty && this.#onTheirWay.size === 0,
      schedule: () => this.#schedule(),
      lost: (job) => this.drop(job, 'unreadable'),
    });
    const delayed = (this.#delayed = this.#fromDisk.delayed);
    const admission = (this.#admission = new Admission({ ...parts, delayed }));
    this.#view = new LaneView({ ...parts, delayed, admission, onTheirWay: this.#onTheirWay });
  }

  get name(): string {
    return this.options.name;
  }

  /** Jobs not yet delivered, including those of running requests, without delayed ones. */
  get depth(): number {
    return this.#view.depth;
  }

  /** Delayed jobs: how many, and the wall clock of the next one. */
  get delayed(): { readonly jobs: number; readonly nextRunAtMs: number | undefined } {
    return { jobs: this.#delayed.length, nextRunAtMs: this.#delayed.nextRunAtMs };
  }

  /** Jobs in memory. */
  get loaded(): number {
    return this.#room.loaded;
  }

  get isBreakerOpen(): boolean {
    return this.#onTheirWay.breaker.isOpen;
  }

  /** Why its jobs wait. Undefined if they do not, or their batch is gathering. */
  get waiting(): Waiting | undefined {
    return this.#view.waiting;
  }

  /** Counts of its jobs by name. */
  get jobs(): JobStats[] {
    return this.#view.jobs;
  }

  /** Wall clock of the oldest undelivered job. */
  get oldestAtMs(): number | undefined {
    return this.#view.oldestAtMs;
  }

  /** True if another job would exceed the limits in memory. */
  get isFull(): boolean {
    return this.#room.isFull;
  }

  /** True if another job must go behind those that are only on disk: in memory it would overtake them. */
  get isBehindSpilled(): boolean {
    return this.#admission.isBehindSpilled;
  }

  /** The life of the sink's server, if it reports one, and when it was last seen. */
  get life(): { readonly generation: string; readonly seenAtMs: number } | undefined {
    return this.#backlogs.life;
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

  /** Jobs that were only on disk are discarded. */
  forget(journal: Journal, jobs: number): void {
    this.stats.dropped.overflow += jobs;
    this.#backlogs.of(journal)!.waiting -= jobs;
  }

  /** It is being sent. */
  isOnItsWay(job: PendingJob): boolean {
    return this.#onTheirWay.has(job);
  }

  /** A job in memory is obsolete: it is dropped when its turn has come, or at once where that may take long. */
  giveUpInMemory(job: PendingJob): void {
    if (!job.isDelayed) return;
    job.counts!.loaded++;
    this.#room.unload(job);
    this.#host.desk.obsolete(job);
    job.strip();
    this.#delayed.giveUpInMemory();
  }

  /** A job on disk alone is not needed any more. */
  giveUp(place: JobPlace, job: string, isDelayed: boolean): void {
    const isWaiting = place.segment.stateOf(place.number) === jobStates.waiting;
    place.journal.done(place);
    if (isDelayed) this.#delayed.giveUpOnDisk();
    if (!isWaiting) return;
    const backlog = this.#backlogs.of(place.journal);
    if (backlog !== undefined) backlog.waiting--;
    this.stats.byName.of(job).gaveUp();
  }

  /** Calls back when there is room again, first come, first served. */
  whenRoom(callback: () => void): void {
    this.#room.whenFree(callback);
  }

  /**
   * Takes a job for the sink. A journaled one may be put back there if memory is full. False if there is no room
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

  /** A delayed job could not be written: it waits in memory. */
  takeBack(job: PendingJob): void {
    if (!this.#isClosed) this.#admission.takeBack(job);
    else this.drop(job, 'exit');
  }

  /** Jobs left by other processes are being searched: where order counts, new jobs must not come before them. */
  awaitOrphans(): void {
    this.#admission.awaitsOrphans = true;
  }

  /** All of it is attached. */
  hasOrphans(): void {
    this.#admission.awaitsOrphans = false;
    this.#schedule();
  }

  /** Jobs also come from this journal: this process's own, or that of an exited one. */
  attach(journal: Journal): void {
    this.#backlogs.attach(journal);
    for (const { sink, job, jobs, oldestAtMs } of journal.found) {
      if (sink === this.name) this.stats.byName.of(job).spilled(jobs, oldestAtMs);
    }
    this.#schedule();
  }

  /** The journal is finished. */
  detach(journal: Journal): void {
    this.#backlogs.detach(journal);
    this.#delayed.detach(journal);
  }

  /** The oldest job that is not being sent. */
  get oldest(): PendingJob | undefined {
    return this.#gathering.first;
  }

  /** Puts it back on disk. False if that has it no more, or order counts. */
  spillOldest(): boolean {
    const isSpilled = this.#admission.spillOldest();
    if (isSpilled) this.#schedule();
    return isSpilled;
  }

  /** Removes the oldest job that is not being sent. */
  takeOldest(): PendingJob | undefined {
    const job = this.#gathering.takeOldest();
    if (job !== undefined) this.#room.unload(job);
    return job;
  }

  /** A job is lost, which is reported. */
  drop(job: { readonly id: string; readonly job: string }, reason: DropReason): void {
    this.#drops.report(job, reason);
  }

  /** Opens the sink. */
  async open(): Promise<void> {
    if (this.#isOpened) return;
    this.#isOpened = true;
    await openSink(this.options, this.#host, {
      generation: (id) => this.#backlogs.seeGeneration(id, this.#host.clock.now()),
      available: (isAvailable) => {
        this.#onTheirWay.breaker.setAvailable(isAvailable);
        if (isAvailable) this.#schedule();
      },
    });
  }

  /** Sends without waiting for full batches; resolves when nothing is left or `signal` aborts. */
  async drain(signal: AbortSignal): Promise<void> {
    this.#gathering.draining++;
    this.#schedule();
    const { promise: aborted, resolve: abort } = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => abort(), { once: true });
    while (!this.#isEmpty() && !signal.aborted) {
      await Promise.race([aborted, new Promise<void>((resolve) => void this.#idle.push(resolve))]);
    }
    this.#gathering.draining--;
  }

  /** Stops. Returns the remaining jobs, including those being sent; their batches are aborted. */
  stop(): PendingJob[] {
    this.#isClosed = true;
    if (this.#pumping !== undefined) clearImmediate(this.#pumping);
    this.#alarm.cancel();
    this.#delayed.stop();
    const waiting = [...this.#suspects, ...this.#gathering, ...this.#parking, ...this.#delayed];
    const left = [...this.#onTheirWay.jobs, ...waiting];
    this.#onTheirWay.abort();
    return left;
  }

  async close(): Promise<void> {
    await this.options.sink.close?.();
  }

  #isEmpty(): boolean {
    // Neither unreadable nor delayed jobs are waited for.
    const loaded = this.#room.loaded - this.#delayed.inMemory;
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
    this.#fromDisk.takeDue(now);
    const suspect = this.#suspects.next(this.#onTheirWay.size === 0);
    if (suspect !== undefined && !this.#sendNeeded([suspect])) this.#nextSuspect();
    while (!this.#suspects.isAlone && !gathering.isEmpty && this.#onTheirWay.hasRoom) {
      const breakerMs = this.#onTheirWay.breaker.waitMs(now);
      if (breakerMs === undefined) break;
      const pauseMs = Math.max(breakerMs, gathering.pauseMs(now));
      const waitMs = pauseMs > 0 ? pauseMs : gathering.gatherMs(now);
      if (waitMs > 0) {
        this.#waitsFor = pauseMs > 0 ? 'event' : 'batch';
        this.#alarm.ringIn(waitMs, now);
        break;
      }
      const batch = gathering.take(now, this.#doubt.limit);
      this.#sendNeeded(batch);
      // One says as much of a sink that fails as many, and there may be many small ones.
      if (this.#onTheirWay.breaker.isFailing) break;
    }
    this.#results.parkBehind();
    if (gathering.isEmpty) gathering.rest();
    else this.#waitsFor ??= 'event';
    if (!this.#admission.awaitsOrphans) this.#fromDisk.readMore();
    // A timer may fire a little early.
    for (const dueAtMs of [gathering.nextDueAtMs, this.#fromDisk.nextDueAtMs]) {
      if (dueAtMs !== undefined) this.#alarm.ringIn(Math.max(0, dueAtMs - now), now);
    }
    this.#tellIdle();
  }

  #nextSuspect(): void {
    this.#suspects.isAlone = false;
    this.#schedule();
  }

  /* False when none of them is needed any more. */
  #sendNeeded(batch: readonly PendingJob[]): boolean {
    const needed = this.#host.keyed.isUsed ? this.#results.dropObsolete(batch) : batch;
    if (needed.length > 0) void this.#send(needed);
    return needed.length > 0;
  }

  async #send(batch: readonly PendingJob[]): Promise<void> {
    this.stats.batches++;
    const outcome = await this.#onTheirWay.send(batch);
    // The code that stopped the lane has taken the jobs.
    if (this.#isClosed) return;
    this.#onTheirWay.arrived(batch);
    this.#suspects.isAlone = false;
    const { logger, clock } = this.#host;
    if (outcome.failure === undefined) {
      this.#backlogs.seeAlive(clock.now());
      this.#doubt.succeeded();
      const outageMs = this.#onTheirWay.breaker.succeeded(clock.now());
      if (outageMs !== undefined) {
        logger.log(`defer, sink ${this.name}: available again after ${Math.round(outageMs)} ms.`);
      }
      this.#results.settle(batch, outcome.results);
    } else {
      this.#failed(batch, outcome.failure.error);
    }
    this.#schedule();
  }

  #failed(batch: readonly PendingJob[], error: unknown): void {
    // Where order counts, the first one is the only one to ask with.
    const blame = this.options.ordered === true ? 'sink' : this.#doubt.failed(batch);
    if (blame === 'job') {
      this.#results.settle(batch, [retry(error)]);
      this.#onTheirWay.breaker.ended();
      return;
    }
    this.#results.putBack(batch, blame === 'sink' ? 'first' : 'last');
    if (this.#onTheirWay.breaker.failed(this.#host.clock.now(), error)) {
      this.#host.logger.warn(
        `defer, sink ${this.name}: unavailable; its jobs wait, and it is retried periodically.`,
        error,
      );
    }
  }

  #replayed(jobs: number): void {
    this.stats.replayed += jobs;
    this.#host.logger.warn(
      `defer, sink ${this.name}: its server restarted; ${jobs} jobs it had acknowledged are sent again.`,
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
