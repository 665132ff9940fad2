import type { Restore } from './job/async-context.ts';
import { checkKey, type AfterOptions, type DeferCallOptions } from './job/call-options.ts';
import { closureSink } from './intake/closures.ts';
import { DeadLetters, Failures } from './intake/dead-letters.ts';
import { enqueueInOutbox, Redelivery } from './intake/outbox-jobs.ts';
import { JobIntake } from './intake/job-intake.ts';
import { Ids, JobMaker } from './intake/job-maker.ts';
import { isJob, type JobDefinition } from './job/job.ts';
import { type DeferStats, sinkStatsOf } from './sink-queue/sink-stats.ts';
import type { DeferError } from './errors.ts';
import { JournalRoot } from './journal/journal-root.ts';
import { makeJournalId } from './journal/owner.ts';
import { reportDamage } from './journal/recover-folder.ts';
import { Journaling, Orphans } from './intake/journaling.ts';
import { resolveQueue } from './sink-queue/queue-options.ts';
import { KeyedJobs } from './sink-queue/keyed-jobs.ts';
import type { SinkQueueHost } from './sink-queue/sink-queue-core.ts';
import { SinkQueue } from './sink-queue/sink-queue.ts';
import type { SinkLife } from './outbox.ts';
import { checkLevel, defaultReplayWindowMs, type ResolvedOptions } from './options.ts';
import type { Deferred, PendingJob } from './sink-queue/pending-job.ts';
import { closedError, neverWaits, unknownJob, unknownSink } from './intake/refusals.ts';
import { noRequest, ownerOf } from './request/owner.ts';
import { KeyRing } from './seal/key-ring.ts';
import type { Schedule } from './schedule/schedule.ts';
import { Schedules, type ScheduleOptions } from './schedule/schedules.ts';
import { unwatchExit, watchExit } from './shutdown.ts';
import type { DeferContext, JobSpans, RunDelivery } from './sink.ts';

/** Time limit for closing things outside this process. Jobs do not depend on it. */
const closeMs = 2_000;

/** The sinks, their queues and the journal. Created by `createDefer`. */
export class Deferrer implements SinkQueueHost {
  readonly options: ResolvedOptions;
  readonly clock: ResolvedOptions['clock'];
  readonly logger: ResolvedOptions['logger'];
  readonly random: () => number;
  readonly spans: JobSpans | undefined;
  /** Jobs that failed for good: list, requeue or remove them. */
  readonly deadLetters: DeadLetters;
  readonly keys: KeyRing | undefined;
  /** Takes every job from its call on, and receives every report about it. */
  readonly intake: JobIntake;
  readonly keyed: KeyedJobs = new KeyedJobs((sink) => this.#queues.get(sink));
  readonly #queues = new Map<string, SinkQueue>();
  readonly #after: SinkQueue;
  readonly #root: JournalRoot<PendingJob> | undefined;
  readonly #redelivery: Redelivery;
  readonly #maker: JobMaker;
  readonly #schedules: Schedules;
  readonly #ready: Promise<void>;
  #state: 'open' | 'draining' | 'closed' = 'open';
  /** Reason why it closed by itself: a key of the journal is missing or wrong. */
  #refusal: DeferError | undefined;
  #closing: Promise<void> | undefined;
  readonly #onClosed: (() => void)[] = [];

  constructor(options: ResolvedOptions) {
    this.options = options;
    this.clock = options.clock;
    this.logger = options.logger;
    this.random = options.random;
    this.spans = options.context.spans;
    const { journal, logger } = options;
    const failures = new Failures(this.clock, logger, () => this.deadLetters);
    this.keys = journal?.seal && new KeyRing(journal.seal);
    const orphans = new Orphans(this.#queues, logger);
    if (journal !== undefined) {
      this.#root = new JournalRoot(
        {
          ...journal,
          keys: this.keys,
          clock: this.clock,
          syncTimeoutMs: options.acknowledgeTimeoutMs,
          trouble: (error) => logger.warn(`defer: ${error.message}`, error),
          recovered: (afterMs) =>
            logger.log(`defer: the journal can be written again after ${Math.round(afterMs)} ms.`),
          committed: (jobs, error) => this.intake.committed(jobs, error),
        },
        {
          hasSink: (name) => this.#queues.has(name),
          adopted: (adopted) => {
            this.#schedules.adopted(adopted);
            this.keyed.adopt(adopted);
            orphans.adopt(adopted);
          },
          finished: (finished) => orphans.release(finished),
          damaged: (damage) => reportDamage(damage, logger),
          warn: (error) => logger.warn(`defer: ${error.message}`, error),
        },
      );
    }
    this.intake = new JobIntake({
      clock: this.clock,
      logger,
      acknowledgeTimeoutMs: options.acknowledgeTimeoutMs,
      journaling: this.#root && new Journaling(this.#root, journal!),
      keyed: this.keyed,
      queueOf: (job) => (job.work === undefined ? this.#queues.get(job.sink)! : this.#after),
      isClosed: () => this.#state === 'closed',
      bury: (job, error) => failures.bury(job, error),
    });
    const redelivery = new Redelivery({
      hasJournal: this.#root !== undefined,
      accept: (job) => void this.intake.accept(this.#openFor(job), noRequest),
      deliver: (job) => this.intake.deliver(this.#openFor(job)),
      generationOf: (sink) => this.#lifeOf(sink)?.generation,
      restoreFrom: (context) => this.restoreFrom(context),
    });
    this.#redelivery = redelivery;
    this.deadLetters = new DeadLetters(this.#root?.deadLetters, {
      maxLetters: options.maxDeadLetters,
      requeue: (record) => redelivery.requeue(record),
      overflowed: (record) => {
        this.#queues.get(record.sink)?.drop(record, 'dead-letters-full');
      },
    });
    for (const resolved of options.queues.values()) this.#addQueue(new SinkQueue(resolved, this));
    this.#after = new SinkQueue(resolveQueue('after', closureSink(options.after), false), this);
    this.#maker = new JobMaker(options, this.#after.name, {
      ids: new Ids(this.#root?.own.id ?? makeJournalId(this.clock.wall())),
      queueFor: (name) => this.#queueFor(name),
      restoreFrom: (context) => this.restoreFrom(context),
    });
    this.#schedules = new Schedules({
      clock: this.clock,
      logger,
      root: this.#root as JournalRoot<never> | undefined,
      directory: journal?.directory,
      isSealed: this.keys !== undefined,
      lookEveryMs: journal?.adoptEveryMs ?? 0,
    });
    this.#ready = this.#open();
    // A caller that ignores `ready()` must not end the process by an unhandled rejection.
    this.#ready.catch(() => {});
    watchExit(this, options.handleSignals);
  }

  /** The queues by the names of their sinks, without the queue of the closures. */
  get queues(): ReadonlyMap<string, SinkQueue> {
    return this.#queues;
  }

  get afterQueue(): SinkQueue {
    return this.#after;
  }

  /** Returns the waiting jobs, since when and why they wait, and the counts of those that ran, by sink and by job name. */
  stats(): DeferStats {
    return {
      sinks: [...this.#queues.values(), this.#after].map(sinkStatsOf),
      deadLetters: this.deadLetters.size,
      journalBytes: this.journalBytes,
      unattributed: this.intake.unattributedJobs,
      withdrawn: this.intake.withdrawnJobs,
    };
  }

  /** Bytes of the journals of this process; undefined without one. */
  get journalBytes(): number | undefined {
    return this.#root?.bytes;
  }

  /**
   * Resolves when the sinks are open, or known to be unavailable, and orphaned journals are read.
   * @throws {DeferError} ERR_REDLINE_DEFER_SEAL: a key of the journal is missing or wrong; the deferrer is closed
   */
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
    this.#checkOpen();
    const owner = ownerOf(this, options?.request);
    const job = this.#maker.make(definition, data, options, owner.origin);
    if (job.level !== 'outbox') return this.intake.accept(job, owner);
    return enqueueInOutbox(this.options.outbox, job, options?.transaction, this.intake, owner);
  }

  /**
   * Defers the job repeatedly, with its due time in the key: at the times of `cron` in a time zone, or every `everyMs`. Each
   * process of the app calls it at startup. Of the processes that share a journal directory, one defers the job of each time,
   * and another does if that one is killed first; in a cluster of several hosts the sink dedupes by the key, if it can.
   * A schedule does not keep the process alive.
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
    this.#checkOpen();
    const { sink = definition.sink ?? this.options.sink } = options ?? {};
    this.#queueFor(sink);
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
   * Cancels the waiting job with this key, if it was deferred with `onDuplicate`. Resolves with false if none is waiting in
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
    const queue = this.#queueFor(sink);
    this.#checkOpen();
    return this.intake.cancel({ sink: queue.name, job: definition.name, key });
  }

  /**
   * Runs `work` after the response of the current request, or at once outside a request. It exists only in memory: work
   * that must not be lost is a job.
   *
   * It has `after.timeoutMs` to finish, and is dropped if `after.maxPending` others are waiting or running; both are reported.
   *
   * @throws {DeferError} ERR_REDLINE_DEFER_UNKNOWN_JOB, _CLOSED, _LEVEL, _OPTION
   */
  after(work: (delivery: RunDelivery) => unknown, options: AfterOptions = {}): void {
    this.#checkOpen();
    const owner = ownerOf(this, options.request);
    this.intake.accept(this.#maker.makeClosure(work, options, owner.origin), owner);
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
      [...this.#queues.values(), this.#after].map((queue) => queue.drain(abort.signal)),
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

  /** Closes synchronously, for the exit of the process. */
  closeSync(): void {
    if (this.#state === 'closed') return;
    this.#stop();
    this.#root?.releaseSync();
  }

  async #close(drainMs: number): Promise<void> {
    const endMs = this.clock.now() + drainMs;
    this.#schedules.stop();
    // A sink that never opens, and a database or a broker that is unavailable, must not keep the process alive.
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
    const queues = [...this.#queues.values()];
    await this.#within(closeMs, Promise.all(queues.map((queue) => queue.close())));
  }

  /* Gives up on a hanging disk after `acknowledgeTimeoutMs`. */
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
    this.intake.leaveScopes();
    this.#state = 'closed';
    this.#schedules.stop();
    for (const callback of this.#onClosed) callback();
    let lost = 0;
    for (const queue of [...this.#queues.values(), this.#after]) {
      lost += this.intake.keep(queue.stop(), queue);
    }
    if (lost > 0) this.logger.warn(`defer: ${lost} jobs of level memory are lost at exit.`);
  }

  async #open(): Promise<void> {
    const { outbox, logger } = this.options;
    // Starts within the call of createDefer: its caller may use the sinks at once.
    const sinks = Promise.all([this.#after, ...this.#queues.values()].map((queue) => queue.open()));
    try {
      await Promise.all([this.#root?.opened, sinks]);
    } catch (error) {
      this.#refuse(error as DeferError);
      throw error;
    }
    await this.#root?.adoptOrphans();
    for (const queue of this.#queues.values()) queue.hasOrphans();
    if (this.#state === 'closed') return;
    await outbox?.open({
      deliver: (row) => this.#redelivery.relay(row),
      lifeOf: (sink) => this.#lifeOf(sink),
      warn: (message, error) => logger.warn(`defer, outbox: ${message}`, error),
    });
  }

  /* A job that cannot be read later must not be acknowledged. */
  #refuse(error: DeferError): void {
    if (this.#state === 'closed') return;
    this.logger.warn(`defer: ${error.message}`, error);
    this.#refusal = error;
    this.closeSync();
    unwatchExit(this);
  }

  #checkOpen(): void {
    if (this.#state === 'closed') throw this.#refusal ?? closedError();
  }

  #addQueue(queue: SinkQueue): void {
    this.#queues.set(queue.name, queue);
    if (this.#root === undefined) return;
    queue.attach(this.#root.own);
    queue.awaitOrphans();
  }

  #lifeOf(sink: string): SinkLife | undefined {
    const { replayWindowMs: windowMs = defaultReplayWindowMs } = this.options.journal ?? {};
    const life = this.#queues.get(sink)?.life;
    if (life === undefined || windowMs === 0) return undefined;
    return { generation: life.generation, seenMsAgo: this.clock.now() - life.seenAtMs, windowMs };
  }

  #openFor(job: PendingJob): PendingJob {
    this.#queueFor(job.sink);
    this.#checkOpen();
    return job;
  }

  #queueFor(name: string | undefined): SinkQueue {
    const queue = name === undefined ? undefined : this.#queues.get(name);
    if (queue !== undefined) return queue;
    throw unknownSink(name, this.#queues);
  }
}
