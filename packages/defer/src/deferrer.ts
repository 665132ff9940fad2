import { AsyncLocalStorage } from 'node:async_hooks';
import { AcknowledgeLimit } from './acknowledge-limit.ts';
import { closureLane } from './closures.ts';
import { DeadLetters } from './dead-letter-office.ts';
import { DeferError } from './errors.ts';
import { isJob, type JobDefinition } from './job.ts';
import { encodeJobRecord } from './journal/job-record.ts';
import { JournalRoot } from './journal/journal-root.ts';
import type { Journal } from './journal/journal.ts';
import { makeJournalId } from './journal/owner.ts';
import type { Damage } from './journal/recover.ts';
import { resolveLane } from './lane/lane-options.ts';
import { Lane, type LaneHost } from './lane/lane.ts';
import { levels, whens, type Level, type When } from './level.ts';
import { checkLevel, listSinks, type ResolvedOptions } from './options.ts';
import type { OutboxJob } from './outbox.ts';
import { PendingJob, type Deferred, type Restore } from './pending-job.ts';
import { scopes, type Scope } from './scope.ts';
import { unwatchExit, watchExit } from './shutdown.ts';
import type { DeferContext } from './sink.ts';
import { oneOf } from './validate.ts';

export interface DeferCallOptions {
  /**
   * What tells this job from others of its kind: sinks that dedupe do it by the key, `ordered: 'key'` orders by it,
   * partitioned sinks partition by it.
   * @default the job's own id, which is unique
   */
  key?: string;
  /** @default the job's, then `createDefer`'s */
  level?: Level;
  /** @default the job's, then `createDefer`'s */
  sink?: string;
  /** @default the job's, then 'always' */
  when?: When;
  /** For the sink alone: delay, priority, headers… Must be JSON. */
  options?: Readonly<Record<string, unknown>>;
  /** Level `outbox`: the client of the caller's transaction. */
  transaction?: unknown;
}

/** A closure cannot be journaled: memory is its only level. */
export interface AfterOptions {
  level?: 'memory';
  /** @default 'always' */
  when?: When;
}

/** One of everything: the sinks, their lanes, the journal. Made by `createDefer`. */
export class Deferrer implements LaneHost {
  readonly options: ResolvedOptions;
  readonly clock: ResolvedOptions['clock'];
  readonly logger: ResolvedOptions['logger'];
  readonly random: () => number;
  /** Jobs that cannot be done: to list, to requeue, to remove. */
  readonly deadLetters: DeadLetters;
  readonly #lanes = new Map<string, Lane>();
  readonly #after: Lane;
  readonly #root: JournalRoot | undefined;
  readonly #idPrefix: string;
  readonly #limit: AcknowledgeLimit;
  readonly #quotaBlocked: PendingJob[] = [];
  #isWatchingQuota = false;
  readonly #ready: Promise<void>;
  #lastId = 0;
  #state: 'open' | 'draining' | 'closed' = 'open';
  #closing: Promise<void> | undefined;
  readonly #onClosed: (() => void)[] = [];
  readonly #unclaimed = new Set<string>();

  constructor(options: ResolvedOptions) {
    this.options = options;
    this.clock = options.clock;
    this.logger = options.logger;
    this.random = options.random;
    this.#limit = new AcknowledgeLimit(this.clock, options.acknowledgeTimeoutMs);
    const { journal, logger } = options;
    if (journal !== undefined) {
      this.#root = new JournalRoot(
        {
          ...journal,
          clock: this.clock,
          trouble: (error) => logger.warn(`defer: ${error.message}`, error),
          recovered: () => logger.log('defer: the journal can be written again.'),
        },
        {
          adopted: (adopted) => this.#adopt(adopted),
          finished: (finished) => {
            for (const lane of this.#lanes.values()) lane.detach(finished);
          },
          damaged: (damage) => this.#tellDamage(damage),
          warn: (error) => logger.warn(`defer: ${error.message}`, error),
        },
      );
    }
    this.#idPrefix = this.#root?.own.id ?? makeJournalId(this.clock.wall());
    this.deadLetters = new DeadLetters(this.#root?.deadLetters, {
      maxLetters: options.maxDeadLetters,
      requeue: (record) => this.#requeue(record),
      overflowed: (record) => {
        const lane = this.#lanes.get(record.sink);
        if (lane !== undefined) lane.stats.dropped['dead-letters-full']++;
        logger.warn(`defer: too many dead letters: ${record.id} (${record.job}) is thrown away.`);
      },
    });
    for (const lane of options.lanes.values()) this.#addLane(new Lane(lane, this));
    this.#after = new Lane(resolveLane('after', closureLane, false), this);
    this.#ready = this.#open();
    // Who waits for it hears of a failure; nobody else has to.
    this.#ready.catch(() => {});
    watchExit(this, options.handleSignals);
  }

  /** The lanes by their sinks' names; that of the closures is not among them. */
  get lanes(): ReadonlyMap<string, Lane> {
    return this.#lanes;
  }

  get afterLane(): Lane {
    return this.#after;
  }

  /** Bytes of the journals of this process; undefined without one. */
  get journalBytes(): number | undefined {
    return this.#root?.bytes;
  }

  /** Resolves when the sinks are open, as far as they can be had, and orphaned journals are read. */
  ready(): Promise<void> {
    return this.#ready;
  }

  /**
   * Takes a job to its sink after the reply of the request this is called in, or at once where there is none.
   *
   * @throws {DeferError} ERR_REDLINE_DEFER_UNKNOWN_JOB, _UNKNOWN_SINK, _UNSERIALISABLE, _TOO_LARGE, _REFUSED, _LEVEL,
   * _FULL, _JOURNAL, _CLOSED, _OPTION: nothing was kept then
   */
  defer<Data>(
    definition: JobDefinition<Data>,
    data: Data,
    options: DeferCallOptions = noOptions,
  ): Deferred {
    if (this.#state === 'closed') throw closedError();
    if (!isJob(definition)) throw unknownJob(definition);
    const lane = this.#laneFor(options.sink ?? definition.sink ?? this.options.sink);
    const level = options.level ?? definition.level ?? this.options.level;
    const when = options.when ?? definition.when ?? 'always';
    if (options !== noOptions) checkCall(options);
    const json = this.#serialise(definition.name, data, lane);
    const refusal = lane.options.sink.refuses?.(definition.name, options.options);
    if (refusal !== undefined) {
      throw new DeferError(
        'ERR_REDLINE_DEFER_REFUSED',
        `The sink ${lane.name} cannot take the job ${definition.name}: ${refusal}`,
      );
    }
    const scope = scopes.getStore();
    const job = new PendingJob(
      lane,
      `${this.#idPrefix}-${(++this.#lastId).toString(36)}`,
      definition.name,
      options.key,
      json,
      this.clock.wall(),
      this.#captureContext(scope),
      options.options,
      level,
      when,
      lane.options.sink.runsHere ? AsyncLocalStorage.snapshot() : undefined,
    );
    if (level === 'outbox') return this.#enqueueInOutbox(job, options.transaction);
    if (level !== 'memory') checkLevel(level, this.#root !== undefined, true);
    return this.#accept(job, scope);
  }

  /**
   * Runs `work` after the reply of the request this is called in, or at once where there is none. It lives in memory
   * alone: what must not be lost is a job.
   *
   * @throws {DeferError} ERR_REDLINE_DEFER_FULL, _CLOSED, _LEVEL
   */
  after(work: () => unknown, options: AfterOptions = {}): void {
    if (this.#state === 'closed') throw closedError();
    const { level = 'memory', when = 'always' } = options as { level?: Level; when?: When };
    if (typeof work !== 'function') throw unknownJob(work);
    if (level !== 'memory') {
      throw new DeferError(
        'ERR_REDLINE_DEFER_LEVEL',
        `A closure cannot be kept at the level ${level}: only memory holds it. Make it a job.`,
      );
    }
    const scope = scopes.getStore();
    const job = new PendingJob(
      this.#after,
      `${this.#idPrefix}-${(++this.#lastId).toString(36)}`,
      work.name === '' ? 'closure' : work.name,
      undefined,
      'null',
      this.clock.wall(),
      undefined,
      undefined,
      'memory',
      oneOf('when', when, whens),
      AsyncLocalStorage.snapshot(),
    );
    job.work = work;
    this.#accept(job, scope);
  }

  secure(job: PendingJob, scope: Scope): void {
    if (job.level === 'memory') return;
    scope.await(job);
    if (job.level === 'sink') this.#deliver(job);
    else this.#journal(job);
  }

  dispatch(job: PendingJob): void {
    this.#unreserve(job);
    if (job.isUnderway) return;
    if (this.#state === 'closed') {
      // Its lane is gone. What the journal has, the next process finds there.
      if (job.place === undefined) job.lane.drop(job, 'exit');
      return;
    }
    if (job.isJournaled && job.place === undefined) this.#journal(job);
    this.#deliver(job);
  }

  withdraw(job: PendingJob): void {
    this.#unreserve(job);
    if (job.isUnderway) return;
    job.place?.journal.done(job.place);
    job.acknowledge(withdrawn());
  }

  restoreFrom(context: DeferContext | undefined): Restore | undefined {
    const { restore } = this.options.context;
    if (restore === undefined || context === undefined) return undefined;
    return (work) => restore(context, work);
  }

  async bury(job: PendingJob, error: unknown): Promise<void> {
    if (job.work !== undefined) {
      this.logger.warn(`defer: a closure (${job.job}) failed.`, error);
      return;
    }
    this.logger.warn(`defer: the job ${job.id} (${job.job}) is a dead letter.`, error);
    await this.deadLetters.bury(job, error, this.clock.wall());
  }

  journalFailed(job: PendingJob, error: unknown): unknown {
    // It stays in memory, and is delivered from there. Whether that will do is the app's to say.
    job.place = undefined;
    return this.options.journal?.onFailure === 'degrade' ? undefined : error;
  }

  /** Sends what is there without waiting for full batches, and goes on taking jobs. */
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
   * Waits up to `drainMs` for the sinks to take what is there, journals the rest, and closes. Without a journal the
   * rest is lost, counted as `dropped{reason="exit"}`, and told.
   */
  close({ drainMs = this.options.drainMs }: { drainMs?: number } = {}): Promise<void> {
    return (this.#closing ??= this.#close(drainMs));
  }

  /** Calls back when it is closed. */
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
    await this.#ready.catch(() => {});
    await this.options.outbox?.close();
    await this.drain(drainMs);
    if (this.#state !== 'closed') this.#stop();
    await this.#root?.close();
    unwatchExit(this);
    await Promise.all([...this.#lanes.values()].map((lane) => lane.close()));
  }

  #stop(): void {
    this.#state = 'closed';
    for (const callback of this.#onClosed) callback();
    let lost = 0;
    for (const lane of [...this.#lanes.values(), this.#after]) {
      for (const job of lane.stop()) {
        if (job.place !== undefined || job.isRelayed) {
          job.acknowledge(closedError());
        } else if (this.#root !== undefined && job.work === undefined) {
          this.#keep(job);
        } else {
          lost++;
          lane.drop(job, 'exit');
        }
      }
    }
    if (lost > 0) this.logger.warn(`defer: ${lost} jobs of level memory are lost at the exit.`);
  }

  #keep(job: PendingJob): void {
    try {
      job.place = this.#root!.own.append(job.sink, encodeJobRecord(job));
      // It was deferred, and is safe; but the level `sink` has not been reached.
      job.acknowledge(job.level === 'sink' ? closedError() : undefined);
    } catch (error) {
      job.lane.drop(job, 'exit');
      this.logger.warn(`defer: the job ${job.id} (${job.job}) could not be journaled.`, error);
    }
  }

  #accept(job: PendingJob, scope: Scope | undefined): Deferred {
    const runsNow = scope === undefined || scope.hasEnded;
    const suits = scope === undefined ? job.when !== 'aborted' : scope.suits(job.when);
    if (runsNow && !suits) {
      job.acknowledge(withdrawn());
      return job;
    }
    const { lane, level } = job;
    // Jobs whose outcome is open are kept in memory until then; only the reply's own status decides on them.
    const isCertain = runsNow || job.when === 'always';
    const journals = job.isJournaled;
    if (!journals && lane.isFull) {
      if (!this.#makeRoom(job)) return job;
    } else if (level === 'memory') {
      job.acknowledge(undefined);
    }
    if (isCertain && journals) this.#journal(job);
    if (scope?.canHold && isCertain && !job.isAcknowledged) scope.await(job);
    if (runsNow || (level === 'sink' && isCertain)) {
      this.#deliver(job);
    } else {
      lane.reserve();
      job.isReserved = true;
      scope.add(job);
    }
    return job;
  }

  /* False when the job itself was given up. */
  #makeRoom(job: PendingJob): boolean {
    const { lane } = job;
    const { overflow } = lane.options;
    if (overflow === 'spill' && job.level === 'memory') {
      this.#journal(job);
      job.acknowledge(undefined);
      if (job.place !== undefined) return true;
      // The journal cannot take it, and memory must not.
    }
    if (overflow === 'drop-oldest') {
      if (!lane.dropOldest()) {
        lane.drop(job, 'overflow');
        return false;
      }
      if (job.level === 'memory') job.acknowledge(undefined);
      return true;
    }
    if (overflow === 'block' && lane.blocked < lane.options.maxPending) {
      if (job.level === 'sink') return true;
      this.#limit.watch(job);
      lane.whenRoom(() => job.acknowledge(undefined));
      return true;
    }
    lane.stats.rejected++;
    throw new DeferError(
      'ERR_REDLINE_DEFER_FULL',
      `The sink ${lane.name} has ${lane.depth} jobs to go, and takes no more (maxPending, maxPendingBytes).`,
    );
  }

  /* Gives the job to the journal, and has it told when its level is reached. */
  #journal(job: PendingJob): void {
    const root = this.#root!;
    if (!root.hasRoom() && !this.#makeRoomInJournal(job, root)) return;
    try {
      job.place = root.own.append(job.sink, encodeJobRecord(job));
    } catch (error) {
      return job.acknowledge(this.journalFailed(job, error));
    }
    if (job.level === 'memory') return;
    root.own.wait(job.level === 'disk' ? 'disk' : 'process', job);
  }

  #makeRoomInJournal(job: PendingJob, root: JournalRoot): boolean {
    const { lane } = job;
    const { overflow } = lane.options;
    if (overflow === 'drop-oldest') {
      while (!root.hasRoom()) {
        const dropped = root.dropOldest(lane.name);
        if (dropped === undefined) break;
        lane.forget(dropped.journal, dropped.jobs);
      }
      if (root.hasRoom()) return true;
    }
    if (overflow === 'block') {
      this.#quotaBlocked.push(job);
      this.#limit.watch(job);
      this.#watchQuota();
      return false;
    }
    lane.stats.rejected++;
    throw new DeferError(
      'ERR_REDLINE_DEFER_FULL',
      `The journal ${this.options.journal!.directory} has reached its maxBytes, ${this.options.journal!.maxBytes}.`,
    );
  }

  #watchQuota(): void {
    if (this.#isWatchingQuota || this.#quotaBlocked.length === 0) return;
    this.#isWatchingQuota = true;
    this.clock.after(
      100,
      () => {
        this.#isWatchingQuota = false;
        while (this.#quotaBlocked.length > 0 && this.#root!.hasRoom()) {
          const job = this.#quotaBlocked.shift()!;
          if (job.isFinished) job.acknowledge(undefined);
          else if (!job.isAcknowledged) this.#journal(job);
        }
        this.#watchQuota();
      },
      true,
    );
  }

  #deliver(job: PendingJob): void {
    job.isUnderway = true;
    if (job.level === 'sink' && !job.isRelayed) this.#limit.watch(job);
    job.lane.enqueue(job);
  }

  #unreserve(job: PendingJob): void {
    if (!job.isReserved) return;
    job.isReserved = false;
    job.lane.unreserve();
  }

  #enqueueInOutbox(job: PendingJob, transaction: unknown): Deferred {
    const { outbox } = this.options;
    if (outbox === undefined || transaction === undefined) {
      throw new DeferError(
        'ERR_REDLINE_DEFER_LEVEL',
        outbox === undefined
          ? 'The level outbox needs one: give createDefer the option outbox.'
          : 'The level outbox needs the client of your transaction: defer(job, data, { level: "outbox", transaction: client }).',
      );
    }
    if (job.when === 'aborted') {
      throw new DeferError(
        'ERR_REDLINE_DEFER_LEVEL',
        'A job of level outbox is part of its transaction, and cannot depend on the client going away.',
      );
    }
    job.isUnderway = true;
    const { id, sink, key, json, deferredAtMs, context, options } = job;
    const row: OutboxJob = { id, sink, job: job.job, key, json, deferredAtMs, context, options };
    // The reply is held like for every other level; a caller that does not await it learns of a failure there.
    const scope = scopes.getStore();
    if (scope?.canHold) scope.await(job);
    outbox.enqueue(transaction, row).then(
      () => job.acknowledge(undefined),
      (error: unknown) => job.acknowledge(error),
    );
    return job;
  }

  /** What an outbox's relay calls. */
  async #relay(row: OutboxJob): Promise<void> {
    const lane = this.#laneFor(row.sink);
    if (this.#state === 'closed') throw closedError();
    const record = { ...row, attempt: 1 };
    const job = PendingJob.fromRecord(lane, record, this.restoreFrom(row.context), 'sink');
    job.isRelayed = true;
    this.#deliver(job);
    try {
      await job.acknowledged();
    } catch (error) {
      if (!(error instanceof DeferError) || error.code !== 'ERR_REDLINE_DEFER_DEAD') throw error;
    }
  }

  async #requeue(record: Parameters<typeof encodeJobRecord>[0]): Promise<void> {
    const lane = this.#laneFor(record.sink);
    if (this.#state === 'closed') throw closedError();
    const level = this.#root === undefined ? 'memory' : 'process';
    const job = PendingJob.fromRecord(
      lane,
      { ...record, attempt: 1 },
      this.restoreFrom(record.context),
      level,
    );
    job.redelivered = true;
    if (level === 'process') {
      this.#journal(job);
      await job.acknowledged();
    }
    this.#deliver(job);
  }

  async #open(): Promise<void> {
    const { outbox, logger } = this.options;
    await Promise.all([...this.#lanes.values()].map((lane) => lane.open()));
    await this.#root?.adoptOrphans();
    await outbox?.open({
      deliver: (row) => this.#relay(row),
      warn: (message, error) => logger.warn(`defer, outbox: ${message}`, error),
    });
  }

  #addLane(lane: Lane): void {
    this.#lanes.set(lane.name, lane);
    if (this.#root !== undefined) lane.attach(this.#root.own);
  }

  #adopt(journal: Journal): void {
    for (const name of journal.sinks) {
      const lane = this.#lanes.get(name);
      if (lane !== undefined) lane.attach(journal);
      else if (!this.#unclaimed.has(name)) {
        this.#unclaimed.add(name);
        this.logger.warn(
          `defer: ${journal.folder} has jobs for the sink "${name}", which there is not; they stay there. There is ${listSinks(this.#lanes)}.`,
        );
      }
    }
  }

  #tellDamage({ file, offset, bytes, kind }: Damage): void {
    if (kind === 'torn') {
      this.logger.log(
        `defer: ${file} ends in ${bytes} bytes of a write that a crash cut off; none of it was acknowledged.`,
      );
      return;
    }
    const sentence = {
      damaged: 'the jobs in them are lost; what follows is read, and the file is kept as damaged-*',
      header: 'its jobs are read all the same, and the file is kept as damaged-*',
      checkpoint: 'it is done without, and some jobs may be sent twice',
    }[kind];
    const message = `${file} has ${bytes} bytes at ${offset} that are not what was written; ${sentence}.`;
    this.logger.warn(`defer: ${message}`, new DeferError('ERR_REDLINE_DEFER_DAMAGED', message));
  }

  #laneFor(name: string | undefined): Lane {
    const lane = name === undefined ? undefined : this.#lanes.get(name);
    if (lane !== undefined) return lane;
    const known = listSinks(this.#lanes);
    throw new DeferError(
      'ERR_REDLINE_DEFER_UNKNOWN_SINK',
      name === undefined
        ? `The job names no sink, and createDefer has no option sink; there is ${known}.`
        : `There is no sink "${name}"; there is ${known}.`,
    );
  }

  #serialise(name: string, data: unknown, lane: Lane): string {
    let json: string | undefined;
    try {
      json = data === undefined ? 'null' : JSON.stringify(data);
    } catch (cause) {
      throw new DeferError(
        'ERR_REDLINE_DEFER_UNSERIALISABLE',
        `The data of the job ${name} cannot be made JSON: ${(cause as Error).message}`,
        { cause },
      );
    }
    if (json === undefined) {
      throw new DeferError(
        'ERR_REDLINE_DEFER_UNSERIALISABLE',
        `The data of the job ${name} is a ${typeof data}, which JSON cannot carry.`,
      );
    }
    const most = Math.min(this.options.maxJobBytes, lane.options.maxJobBytes);
    if (json.length <= most) return json;
    throw new DeferError(
      'ERR_REDLINE_DEFER_TOO_LARGE',
      `The data of the job ${name} is ${json.length} characters of JSON, and ${lane.options.maxJobBytes === most ? `the sink ${lane.name}` : 'maxJobBytes'} allows ${most}.`,
    );
  }

  #captureContext(scope: Scope | undefined): DeferContext | undefined {
    const facts = scope?.facts;
    const captured = this.options.context.capture?.();
    if (captured === undefined) {
      if (facts === undefined) return undefined;
      const { traceparent, requestId } = facts;
      return traceparent === undefined && requestId === undefined ? undefined : facts;
    }
    return { ...facts, ...captured };
  }
}

const noOptions: DeferCallOptions = {};

/* At the call, so that a wrong value never reaches a journal. */
function checkCall({ key, level, when, options }: DeferCallOptions): void {
  if (key !== undefined && typeof key !== 'string') {
    throw new DeferError(
      'ERR_REDLINE_DEFER_OPTION',
      `The option key must be a string, and is ${String(key)}.`,
    );
  }
  if (level !== undefined) oneOf('level', level, levels);
  if (when !== undefined) oneOf('when', when, whens);
  if (options === undefined) return;
  try {
    JSON.stringify(options);
  } catch (cause) {
    throw new DeferError(
      'ERR_REDLINE_DEFER_UNSERIALISABLE',
      `The sink's options cannot be made JSON: ${(cause as Error).message}`,
      { cause },
    );
  }
}

function unknownJob(given: unknown): DeferError {
  const shown = typeof given === 'string' ? `"${given}"` : `a value of type ${typeof given}`;
  return new DeferError(
    'ERR_REDLINE_DEFER_UNKNOWN_JOB',
    typeof given === 'function'
      ? 'A closure is no job: use defer.after(work), which keeps it in memory, or make it a job with defineJob().'
      : `A job is made by defineJob(), and this is ${shown}.`,
  );
}

function closedError(): DeferError {
  return new DeferError('ERR_REDLINE_DEFER_CLOSED', 'The deferrer is closed.');
}

function withdrawn(): DeferError {
  return new DeferError(
    'ERR_REDLINE_DEFER_WITHDRAWN',
    'The request has another outcome than the one the job was meant for.',
  );
}
