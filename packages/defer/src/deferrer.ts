import type { Restore } from './job/async-context.ts';
import { checkKey, type AfterOptions, type DeferCallOptions } from './job/call-options.ts';
import { closureLane } from './intake/closures.ts';
import { DeadLetters } from './intake/dead-letters.ts';
import { enqueueInOutbox } from './intake/enqueue-in-outbox.ts';
import { Desk } from './intake/desk.ts';
import { Ids } from './job/ids.ts';
import { JobMaker } from './intake/job-maker.ts';
import { isJob, type JobDefinition } from './job/job.ts';
import { JournalRoot } from './journal/journal-root.ts';
import { makeJournalId } from './journal/owner.ts';
import { tellDamage } from './journal/tell-damage.ts';
import { Journaling } from './intake/journaling.ts';
import { resolveLane } from './lane/lane-options.ts';
import { KeyedJobs } from './lane/keyed-jobs.ts';
import type { LaneHost } from './lane/lane-host.ts';
import { Lane } from './lane/lane.ts';
import { sinkStatsOf, type SinkStats } from './lane/sink-stats.ts';
import type { SinkLife } from './outbox.ts';
import { checkLevel, defaultReplayWindowMs, type ResolvedOptions } from './options.ts';
import { Orphans } from './intake/orphans.ts';
import type { Deferred, PendingJob } from './lane/pending-job.ts';
import { Redelivery } from './intake/redelivery.ts';
import { closedError, neverWaits, unknownJob, unknownSink } from './intake/refusals.ts';
import { noRequest, ownerOf } from './request/owner.ts';
import { Repeated } from './repeated.ts';
import type { Schedule } from './schedule/schedule.ts';
import { Schedules, type ScheduleOptions } from './schedule/schedules.ts';
import { unwatchExit, watchExit } from './shutdown.ts';
import type { DeferContext, JobSpans, RunDelivery } from './sink.ts';

/** How long things outside this process may take to close. Jobs do not depend on it. */
const closeMs = 2_000;

export interface DeferStats {
  readonly sinks: readonly SinkStats[];
  readonly deadLetters: number;
  /** Bytes of the journals of this process; undefined without one. */
  readonly journalBytes: number | undefined;
  /** Jobs whose request could not be known while requests were open: see `request` of `defer()`. */
  readonly unattributed: number;
  /** Jobs that did not run, because the outcome of their request was not the one of their `when`. */
  readonly withdrawn: number;
}

/** The sinks, their lanes and the journal. Created by `createDefer`. */
export class Deferrer implements LaneHost {
  readonly options: ResolvedOptions;
  readonly clock: ResolvedOptions['clock'];
  readonly logger: ResolvedOptions['logger'];
  readonly random: () => number;
  readonly spans: JobSpans | undefined;
  /** Jobs that failed for good: list, requeue or remove them. */
  readonly deadLetters: DeadLetters;
  /** Takes every job from its call on, and gets every report about it. */
  readonly desk: Desk;
  /** Jobs whose keys are taken. */
  readonly keyed: KeyedJobs = new KeyedJobs((sink) => this.#lanes.get(sink));
  readonly #lanes = new Map<string, Lane>();
  readonly #after: Lane;
  readonly #root: JournalRoot<PendingJob> | undefined;
  readonly #redelivery: Redelivery;
  readonly #deaths: Repeated;
  readonly #maker: JobMaker;
  readonly #schedules: Schedules;
  readonly #ready: Promise<void>;
  #state: 'open' | 'draining' | 'closed' = 'open';
  #closing: Promise<void> | undefined;
  readonly #onClosed: (() => void)[] = [];

  constructor(options: ResolvedOptions) {
    this.options = options;
    this.clock = options.clock;
    this.logger = options.logger;
    this.random = options.random;
    this.spans = options.context.spans;
    const { journal, logger } = options;
    this.#deaths = new Repeated(this.clock, (count) =>
      logger.warn(`defer: ${count} more jobs are dead letters, or closures that failed.`),
    );
    const orphans = new Orphans(this.#lanes, logger);
    if (journal !== undefined) {
      this.#root = new JournalRoot(
        {
          ...journal,
          clock: this.clock,
          syncTimeoutMs: options.acknowledgeTimeoutMs,
          trouble: (error) => logger.warn(`defer: ${error.message}`, error),
          recovered: (afterMs) =>
            logger.log(`defer: the journal can be written again after ${Math.round(afterMs)} ms.`),
          committed: (jobs, error) => this.desk.committed(jobs, error),
        },
        {
          hasSink: (name) => this.#lanes.has(name),
          adopted: (adopted) => {
            this.#schedules.adopted(adopted);
            this.keyed.adopt(adopted);
            orphans.adopt(adopted);
          },
          finished: (finished) => orphans.release(finished),
          damaged: (damage) => tellDamage(damage, logger),
          warn: (error) => logger.warn(`defer: ${error.message}`, error),
        },
      );
    }
    this.desk = new Desk({
      clock: this.clock,
      logger,
      acknowledgeTimeoutMs: options.acknowledgeTimeoutMs,
      journaling: this.#root && new Journaling(this.#root, journal!),
      keyed: this.keyed,
      laneOf: (job) => (job.work === undefined ? this.#lanes.get(job.sink)! : this.#after),
      isClosed: () => this.#state === 'closed',
      bury: (job, error) => this.#bury(job, error),
    });
    const redelivery = new Redelivery({
      hasJournal: this.#root !== undefined,
      accept: (job) => void this.desk.accept(this.#openFor(job), noRequest),
      deliver: (job) => this.desk.deliver(this.#openFor(job)),
      generationOf: (sink) => this.#lifeOf(sink)?.generation,
      restoreFrom: (context) => this.restoreFrom(context),
    });
    this.#redelivery = redelivery;
    this.deadLetters = new DeadLetters(this.#root?.deadLetters, {
      maxLetters: options.maxDeadLetters,
      requeue: (record) => redelivery.requeue(record),
      overflowed: (record) => {
        this.#lanes.get(record.sink)?.drop(record, 'dead-letters-full');
      },
    });
    for (const lane of options.lanes.values()) this.#addLane(new Lane(lane, this));
    this.#after = new Lane(resolveLane('after', closureLane(options.after), false), this);
    this.#maker = new JobMaker(options, this.#after.name, {
      ids: new Ids(this.#root?.own.id ?? makeJournalId(this.clock.wall())),
      laneFor: (name) => this.#laneFor(name),
      restoreFrom: (context) => this.restoreFrom(context),
    });
    this.#schedules = new Schedules({
      clock: this.clock,
      logger,
      root: this.#root as JournalRoot<never> | undefined,
      directory: journal?.directory,
      lookEveryMs: journal?.adoptEveryMs ?? 0,
    });
    this.#ready = this.#open();
    // Callers that wait for it learn of a failure; nobody else has to.
    this.#ready.catch(() => {});
    watchExit(this, options.handleSignals);
  }

  /** The lanes by the names of their sinks, without that of the closures. */
  get lanes(): ReadonlyMap<string, Lane> {
    return this.#lanes;
  }

  get afterLane(): Lane {
    return this.#after;
  }

  /** What waits, since when and why, and what has run, by sink and by job name. */
  stats(): DeferStats {
    return {
      sinks: [...this.#lanes.values(), this.#after].map(sinkStatsOf),
      deadLetters: this.deadLetters.size,
      journalBytes: this.journalBytes,
      unattributed: this.desk.unattributedJobs,
      withdrawn: this.desk.withdrawnJobs,
    };
  }

  /** Bytes of the journals of this process; undefined without one. */
  get journalBytes(): number | undefined {
    return this.#root?.bytes;
  }

  /** Resolves when the sinks are open, or known to be unavailable, and orphaned journals are read. */
  ready(): Promise<void> {
    return this.#ready;
  }

  /**
   * Sends a job to its sink after the response of the current request, or at once outside a request.
   *
   * @throws {DeferError} ERR_REDLINE_DEFER_UNKNOWN_JOB, _UNKNOWN_SINK, _UNSERIALISABLE, _TOO_LARGE, _REFUSED, _LEVEL,
   * _TOO_LATE, _FULL, _JOURNAL, _CLOSED, _OPTION: if it throws, nothing was kept
   */
  defer<Data>(definition: JobDefinition<Data>, data: Data, options?: DeferCallOptions): Deferred {
    if (this.#state === 'closed') throw closedError();
    const owner = ownerOf(this, options?.request);
    const job = this.#maker.make(definition, data, options, owner.origin);
    if (job.level !== 'outbox') return this.desk.accept(job, owner);
    return enqueueInOutbox(this.options.outbox, job, options?.transaction, this.desk, owner);
  }

  /**
   * Defers the job again and again, with the moment it is due at in its key: at those of `cron` in a time zone, or of
   * `everyMs`. Each process of the app calls it at its start. Of those with one journal's directory, one defers the job of
   * each moment, and another does if that is killed before; in a cluster of several hosts the sink dedupes by the key, if it can.
   * It keeps no process alive that has nothing else to do.
   *
   * @throws {DeferError} ERR_REDLINE_DEFER_UNKNOWN_JOB, _UNKNOWN_SINK, _LEVEL, _CLOSED, _OPTION
   * @example
   * ```ts
   * deferrer.schedule(sendReport, { to: 'all' }, { cron: '0 7 * * 1-5', timeZone: 'Europe/Vienna' });
   * ```
   */
  schedule<Data>(
    definition: JobDefinition<Data>,
    data: NoInfer<Data>,
    options: ScheduleOptions,
  ): Schedule {
    if (!isJob(definition)) throw unknownJob(definition);
    if (this.#state === 'closed') throw closedError();
    const { sink = definition.sink ?? this.options.sink } = options ?? {};
    this.#laneFor(sink);
    const fallback = this.#root === undefined ? this.options.level : 'process';
    const level = options?.level ?? definition.level ?? fallback;
    if (level === 'outbox') throw neverWaits(level);
    if (level !== 'memory') checkLevel(level, this.#root !== undefined, true);
    const call = { level, sink, request: null, when: 'always' } as const;
    const onDuplicate = level === 'sink' ? {} : ({ onDuplicate: 'keep' } as const);
    return this.#schedules.add(definition.name, options, async (key) => {
      await this.#ready.catch(() => {});
      await this.defer<Data>(definition, data, { ...call, ...onDuplicate, key }).acknowledged();
    });
  }

  /**
   * Gives up the job with this key that waits, if it was deferred with `onDuplicate`. Resolves with false if none waits in
   * this process: it was never deferred, it is being sent, or it is done. After true, a crash does not bring it back.
   *
   * @throws {DeferError} ERR_REDLINE_DEFER_UNKNOWN_JOB, _UNKNOWN_SINK, _CLOSED, _OPTION
   */
  async cancel<Data>(
    definition: JobDefinition<Data>,
    key: string,
    { sink = definition.sink ?? this.options.sink }: { readonly sink?: string } = {},
  ): Promise<boolean> {
    if (!isJob(definition)) throw unknownJob(definition);
    checkKey(key);
    const lane = this.#laneFor(sink);
    if (this.#state === 'closed') throw closedError();
    return this.desk.cancel({ sink: lane.name, job: definition.name, key });
  }

  /**
   * Runs `work` after the response of the current request, or at once outside a request. It exists only in memory: work
   * that must not be lost is a job.
   *
   * It has `after.timeoutMs` to end, and is dropped if `after.maxPending` others wait or run: both are reported.
   *
   * @throws {DeferError} ERR_REDLINE_DEFER_UNKNOWN_JOB, _CLOSED, _LEVEL, _OPTION
   */
  after(work: (delivery: RunDelivery) => unknown, options: AfterOptions = {}): void {
    if (this.#state === 'closed') throw closedError();
    const owner = ownerOf(this, options.request);
    this.desk.accept(this.#maker.makeClosure(work, options, owner.origin), owner);
  }

  restoreFrom(context: DeferContext | undefined): Restore | undefined {
    const { restore } = this.options.context;
    if (restore === undefined || context === undefined) return undefined;
    return (work) => restore(context, work);
  }

  /** Sends waiting jobs without waiting for full batches, and continues to take jobs. */
  async drain(timeoutMs: number = this.options.drainMs): Promise<void> {
    if (this.#state === 'closed') return;
    this.#state = 'draining';
    const abort = new AbortController();
    const timer = this.clock.after(timeoutMs, () => abort.abort(), true);
    await Promise.all(
      [...this.#lanes.values(), this.#after].map((lane) => lane.drain(abort.signal)),
    );
    timer.cancel();
  }

  /**
   * Waits up to `drainMs` for the sinks to take the waiting jobs, journals the rest, and closes. Without a journal the
   * rest is lost, counted as `dropped{reason="exit"}`, and reported.
   */
  close({ drainMs = this.options.drainMs }: { drainMs?: number } = {}): Promise<void> {
    return (this.#closing ??= this.#close(drainMs));
  }

  /** Calls `callback` when it is closed. */
  onClosed(callback: () => void): void {
    this.#onClosed.push(callback);
  }

  /** The same without waiting: for the exit of the process. */
  closeSync(): void {
    if (this.#state === 'closed') return;
    this.#stop();
    this.#root?.releaseSync();
  }

  async #close(drainMs: number): Promise<void> {
    const endMs = this.clock.now() + drainMs;
    this.#schedules.stop();
    // A sink that never opens, and a database or a broker that is unavailable, must not keep the process.
    await this.#within(
      Math.max(drainMs, closeMs),
      this.#ready.catch(() => {}),
    );
    const outboxClosed = Promise.resolve(this.options.outbox?.close());
    outboxClosed.catch(() => {});
    await this.drain(Math.max(0, endMs - this.clock.now()));
    if (this.#state !== 'closed') this.#stop();
    if (this.#root !== undefined) await this.#closeJournal(this.#root);
    await this.#within(closeMs, outboxClosed);
    unwatchExit(this);
    const lanes = [...this.#lanes.values()];
    await this.#within(closeMs, Promise.all(lanes.map((lane) => lane.close())));
  }

  /* A disk that hangs is given up on after `acknowledgeTimeoutMs`. */
  async #closeJournal(root: JournalRoot<PendingJob>): Promise<void> {
    await this.#within(closeMs + this.options.acknowledgeTimeoutMs, root.close());
    root.releaseSync();
  }

  async #within(ms: number, work: Promise<unknown>): Promise<void> {
    const { promise: isOver, resolve } = Promise.withResolvers<void>();
    const timer = this.clock.after(ms, resolve, true);
    const done = work.catch((error: unknown) => this.logger.warn('defer: closing anyway.', error));
    await Promise.race([done, isOver]);
    timer.cancel();
  }

  #stop(): void {
    this.desk.leaveScopes();
    this.#state = 'closed';
    this.#schedules.stop();
    for (const callback of this.#onClosed) callback();
    let lost = 0;
    for (const lane of [...this.#lanes.values(), this.#after]) {
      lost += this.desk.keep(lane.stop(), lane);
    }
    if (lost > 0) this.logger.warn(`defer: ${lost} jobs of level memory are lost at exit.`);
  }

  async #open(): Promise<void> {
    const { outbox, logger } = this.options;
    await Promise.all([this.#after, ...this.#lanes.values()].map((lane) => lane.open()));
    await this.#root?.adoptOrphans();
    for (const lane of this.#lanes.values()) lane.hasOrphans();
    if (this.#state === 'closed') return;
    await outbox?.open({
      deliver: (row) => this.#redelivery.relay(row),
      lifeOf: (sink) => this.#lifeOf(sink),
      warn: (message, error) => logger.warn(`defer, outbox: ${message}`, error),
    });
  }

  #addLane(lane: Lane): void {
    this.#lanes.set(lane.name, lane);
    if (this.#root === undefined) return;
    lane.attach(this.#root.own);
    lane.awaitOrphans();
  }

  #lifeOf(sink: string): SinkLife | undefined {
    const { replayWindowMs: windowMs = defaultReplayWindowMs } = this.options.journal ?? {};
    const life = this.#lanes.get(sink)?.life;
    if (life === undefined || windowMs === 0) return undefined;
    return { generation: life.generation, seenMsAgo: this.clock.now() - life.seenAtMs, windowMs };
  }

  /* @throws {DeferError} ERR_REDLINE_DEFER_UNKNOWN_SINK, _CLOSED */
  #openFor(job: PendingJob): PendingJob {
    this.#laneFor(job.sink);
    if (this.#state === 'closed') throw closedError();
    return job;
  }

  async #bury(job: PendingJob, error: unknown): Promise<void> {
    if (job.work !== undefined) {
      this.#deaths.tell(() => this.logger.warn(`defer: a closure (${job.job}) failed.`, error));
      return;
    }
    this.#deaths.tell(() =>
      this.logger.warn(`defer: the job ${job.id} (${job.job}) is a dead letter.`, error),
    );
    await this.deadLetters.bury(job, error, this.clock.wall());
  }

  #laneFor(name: string | undefined): Lane {
    const lane = name === undefined ? undefined : this.#lanes.get(name);
    if (lane !== undefined) return lane;
    throw unknownSink(name, this.#lanes);
  }
}
