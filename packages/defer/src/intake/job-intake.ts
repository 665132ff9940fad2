import type { Clock } from '../clock.ts';
import { DeferError } from '../errors.ts';
import type { PendingJob } from '../sink-queue/pending-job.ts';
import type { KeyedJobs } from '../sink-queue/keyed-jobs.ts';
import type { SinkQueueReports } from '../sink-queue/sink-queue-core.ts';
import type { DropReason } from '../sink-queue/queue-counts.ts';
import type { SinkQueue } from '../sink-queue/sink-queue.ts';
import type { DeferLogger } from '../logger.ts';
import type { OutboxTransaction } from '../outbox.ts';
import { OpenScopes, SharedAbort, Unattributed } from '../request/open-scopes.ts';
import type { Owner } from '../request/owner.ts';
import type { Scope, ScopeIntake } from '../request/scope.ts';
import { AcknowledgeLimit, Commit, type CommitHost } from './acknowledgement.ts';
import { JobStorage } from './job-storage.ts';
import type { Journaling } from './journaling.ts';
import {
  closedError,
  unattributedWarning,
  notInTime,
  tooLate,
  withdrawn,
  type UnattributedPlace,
} from './refusals.ts';

export interface JobIntakeHost {
  readonly clock: Clock;
  readonly logger: DeferLogger;
  readonly acknowledgeTimeoutMs: number;
  /** Undefined without a journal. */
  readonly journaling: Journaling | undefined;
  readonly keyed: KeyedJobs;
  queueOf(job: PendingJob): SinkQueue;
  isClosed(): boolean;
  /** Makes the job a dead letter. Resolves when that is written. */
  bury(job: PendingJob, error: unknown): Promise<void>;
}

/**
 * Accepts every job, and receives every report about it: from its request, the journal and its queue. Only the intake
 * acknowledges jobs, and only the intake waits for the journal.
 */
export class JobIntake implements ScopeIntake, SinkQueueReports {
  readonly #host: JobIntakeHost;
  readonly #limit: AcknowledgeLimit<PendingJob>;
  readonly #storage: JobStorage;
  readonly #commitHost: CommitHost;
  /** Jobs that belong to an unknown one of the open requests. */
  readonly unattributed: Unattributed = new Unattributed();
  unattributedJobs = 0;
  withdrawnJobs = 0;
  readonly #scopes = new OpenScopes<Scope>();
  readonly #reported = new Set<UnattributedPlace | 'commit'>();

  constructor(host: JobIntakeHost) {
    this.#host = host;
    const { clock, acknowledgeTimeoutMs } = host;
    this.#limit = new AcknowledgeLimit(clock, acknowledgeTimeoutMs, (job) =>
      this.settle(job, notInTime(job, acknowledgeTimeoutMs)),
    );
    this.#commitHost = {
      clock,
      limitMs: acknowledgeTimeoutMs,
      tookTooLong: (error) => this.#reportLateCommit(error),
    };
    this.#storage = new JobStorage({
      clock,
      logger: host.logger,
      journaling: host.journaling,
      queueOf: (job) => host.queueOf(job),
      settle: (job, error) => this.settle(job, error),
      watch: (job) => this.#limit.watch(job),
      deliver: (job) => this.deliver(job),
      drop: (job, queue, reason) => this.#drop(job, queue, reason),
    });
  }

  /**
   * Takes a new job, for the request that deferred it.
   *
   * @throws {DeferError} ERR_REDLINE_DEFER_FULL, _TOO_LATE
   */
  accept(job: PendingJob, owner: Owner): PendingJob {
    const { scope } = owner;
    if (!owner.isCertain && this.#isUnattributed(scope))
      return this.#acceptUnattributed(job, scope);
    const isDecided = scope === undefined || scope.hasEnded;
    const suits = scope === undefined ? job.when !== 'aborted' : scope.suits(job.when);
    if (isDecided && !suits) {
      this.#withdrawn(job);
      return job;
    }
    if (job.level !== 'memory' && job.when !== 'aborted') this.checkTime(job, owner);
    const queue = this.#host.queueOf(job);
    if (job.onDuplicate !== undefined) {
      this.#host.keyed.prepare(job);
      if ((isDecided || job.when === 'always') && this.#isKept(job, scope)) return job;
    }
    // Jobs whose outcome is open are kept in memory until then; only the response's own status decides on them.
    const isCertain = isDecided || job.when === 'always';
    const isKept = job.isJournaled
      ? !isCertain || this.#storage.record(job, queue)
      : this.#storage.load(job, queue);
    // Regardless of what has happened to the job by now, a response that claims it must not leave.
    const isClaimed = job.level !== 'memory' || !job.isSettled;
    if (isCertain && isClaimed && scope?.canHold) scope.await(job);
    if (!isKept) return job;
    if (isDecided) {
      this.deliver(job);
    } else if (job.level === 'sink' && isCertain) {
      this.deliver(job);
      scope.add(job);
    } else {
      queue.budget.reserve();
      job.isReserved = true;
      scope.add(job);
    }
    return job;
  }

  /** @throws {DeferError} ERR_REDLINE_DEFER_TOO_LATE */
  checkTime(job: PendingJob, { scope }: Owner): void {
    if (scope?.isEnding) throw tooLate(job);
  }

  /** Holds the response of the job's request, or each response it may belong to, until the commit of its row. */
  holdForCommit(
    job: PendingJob,
    row: Promise<OutboxTransaction | void>,
    { scope, isCertain }: Owner,
  ): void {
    const isUnattributed = !isCertain && this.#isUnattributed(scope);
    if (!isUnattributed && !scope?.canHold) return;
    const commit = new Commit(job, row, this.#commitHost);
    if (isUnattributed) {
      this.#reportUnattributed(job, scope);
      this.unattributed.add(commit);
    } else {
      scope!.awaitCommit(commit);
    }
  }

  /*
   * Outside a request's context, or in that of one that has its response, work may belong to any open request:
   * the callbacks of a shared connection and the queues of limiters run in the context they were created in.
   */
  #isUnattributed(scope: Scope | undefined): boolean {
    if (scope !== undefined && (scope.isAtWork || scope.isEnding)) return false;
    return this.#scopes.some((other) => !other.isGone && !other.isSameAs(scope));
  }

  /* The outcome of a request must not withdraw it. @throws {DeferError} ERR_REDLINE_DEFER_FULL */
  #acceptUnattributed(job: PendingJob, scope: Scope | undefined): PendingJob {
    const queue = this.#host.queueOf(job);
    if (job.when === 'aborted' && !(scope !== undefined && scope.suits('aborted'))) {
      this.#shareAbort(job, queue, scope);
      return job;
    }
    this.#reportUnattributed(job, scope);
    if (job.onDuplicate !== undefined) this.#host.keyed.prepare(job);
    const isKept = job.isJournaled
      ? this.#storage.record(job, queue)
      : this.#storage.load(job, queue);
    if (job.level !== 'memory' || !job.isSettled) this.unattributed.add(job);
    if (isKept) this.deliver(job);
    return job;
  }

  /* @throws {DeferError} ERR_REDLINE_DEFER_FULL */
  #shareAbort(job: PendingJob, queue: SinkQueue, scope: Scope | undefined): void {
    const candidates = this.#scopes.all().filter((other) => !other.isGone || other === scope);
    if (!job.isJournaled && !this.#storage.load(job, queue)) return;
    queue.budget.reserve();
    job.isReserved = true;
    const shared = new SharedAbort(job, candidates.length);
    for (const candidate of candidates) candidate.shareAbort(shared);
  }

  #reportUnattributed(job: PendingJob, scope: Scope | undefined): void {
    this.unattributedJobs++;
    const where = scope === undefined ? 'outside' : 'answered';
    if (job.level === 'memory' || this.#reported.has(where)) return;
    this.#reported.add(where);
    this.#host.logger.warn(...unattributedWarning(job, where));
  }

  #reportLateCommit(error: Error): void {
    if (this.#reported.has('commit')) return;
    this.#reported.add('commit');
    this.#host.logger.warn(`defer: ${error.message}`, error);
  }

  deliver(job: PendingJob): void {
    const queue = this.#host.queueOf(job);
    job.isUnderway = true;
    if (job.onDuplicate !== undefined && this.#isDuplicate(job)) return;
    if (job.level === 'memory' && job.place === undefined && queue.isBehindSpilled) {
      this.#storage.recordLate(job, queue);
    }
    if (job.level === 'sink' && !job.isRelayed && !job.isSettled) this.#limit.watch(job);
    // Neither memory nor the journal has room for the job, and it may wait for some.
    if (this.#storage.isBlocked(job) && queue.budget.isFull) job.isHeldBack = true;
    else if (!queue.enqueue(job)) this.#drop(job, queue, 'overflow');
  }

  /* True if another job stands in for it; the response then waits for that one instead. */
  #isKept(job: PendingJob, scope: Scope | undefined): boolean {
    const isKept = this.#host.keyed.awaitKept(job, {
      acknowledged: (error) => this.settle(job, error),
    });
    if (isKept && !job.isSettled && scope?.canHold) scope.await(job);
    return isKept;
  }

  #isDuplicate(job: PendingJob): boolean {
    if (this.#isKept(job, undefined)) {
      job.place?.journal.done(job.place);
      return true;
    }
    this.#host.keyed.enter(job);
    return false;
  }

  /** Cancels a waiting job. Resolves when its end is written, if the job was: with false if none was waiting. */
  async cancel(wanted: { sink: string; job: string; key: string }): Promise<boolean> {
    const cancelled = this.#host.keyed.cancel(wanted);
    if (cancelled === undefined) return false;
    const { job, place } = cancelled;
    // It was deferred: callers need not wait for its level any longer.
    if (job !== undefined) this.settle(job, undefined);
    await place?.journal.whenIdle();
    return true;
  }

  opened(scope: Scope): void {
    this.#scopes.add(scope);
    // No event may have announced the end of a request whose client went away: each arrival checks one other.
    const { oldest } = this.#scopes;
    if (oldest === undefined || oldest === scope) return;
    this.#scopes.remove(oldest);
    if (!oldest.isIdle || !oldest.isGone) this.#scopes.add(oldest);
  }

  closed(scope: Scope): void {
    this.#scopes.remove(scope);
  }

  /** Called if it is unknown which of the jobs are the scope's own: they are kept, and other responses wait for them. */
  shared(scope: Scope): void {
    for (const job of scope.jobs) {
      if (job.isShared) continue;
      job.isShared = true;
      this.#reportUnattributed(job, scope);
      if (job.level === 'memory') continue;
      if (job.when === 'success' && job.place === undefined) this.secure(job);
      this.unattributed.add(job);
    }
  }

  /** Sends the jobs of open requests whose outcome is certain, before the queues close. */
  leaveScopes(): void {
    for (const scope of this.#scopes.all()) scope.leave();
  }

  secure(job: PendingJob): void {
    if (job.level === 'sink') this.deliver(job);
    else this.#storage.recordLate(job, this.#host.queueOf(job));
  }

  dispatch(job: PendingJob): void {
    const queue = this.#unreserve(job);
    if (job.isUnderway) return;
    if (this.#host.isClosed()) {
      // Its queue is gone. The next process finds the job in the journal.
      if (job.place === undefined) this.#drop(job, queue, 'exit');
      return;
    }
    if (job.isJournaled && job.place === undefined) this.#storage.recordLate(job, queue);
    this.deliver(job);
  }

  withdraw(job: PendingJob): void {
    this.#unreserve(job);
    if (job.isUnderway) return;
    job.place?.journal.done(job.place);
    this.#withdrawn(job);
  }

  #withdrawn(job: PendingJob): void {
    this.withdrawnJobs++;
    this.settle(job, withdrawn());
  }

  delivered(job: PendingJob, isReplayable: boolean): void {
    const { place } = job;
    if (place !== undefined) {
      if (isReplayable) place.journal.sent(place);
      else place.journal.done(place);
    }
    if (job.onDuplicate !== undefined) this.#host.keyed.left(job);
    // A lower level is reached when the journal confirms it, even if the sink was faster.
    if (!job.isJournaled || this.#storage.unblock(job)) this.settle(job, undefined);
  }

  obsolete(job: PendingJob): void {
    job.place?.journal.done(job.place);
    this.#host.keyed.left(job);
    this.settle(job, undefined);
  }

  shelve(job: PendingJob): boolean {
    const { journaling } = this.#host;
    if (job.place !== undefined) return true;
    if (job.level !== 'memory' || journaling === undefined || !journaling.hasRoom()) return false;
    try {
      journaling.shelve(job);
    } catch {
      return false; // It was reported, and memory still has the job.
    }
    return true;
  }

  async died(job: PendingJob, error: unknown): Promise<void> {
    const { sink } = job;
    if (job.onDuplicate !== undefined) this.#host.keyed.left(job);
    try {
      await this.#host.bury(job, error);
      job.place?.journal.done(job.place);
    } catch (reason) {
      this.#host.logger.warn(
        `defer, sink ${sink}: the job ${job.id} (${job.job}) failed for good and could not be kept as a dead letter. ${job.place === undefined ? 'It is lost.' : 'It stays in the journal.'}`,
        reason,
      );
    }
    if (job.isJournaled && !this.#storage.unblock(job)) return;
    const sentence = `The job ${job.id} (${job.job}) failed for good in the sink ${sink}.`;
    this.settle(job, new DeferError('ERR_REDLINE_DEFER_DEAD', sentence, { cause: error }));
  }

  committed(jobs: readonly PendingJob[], error: unknown): void {
    for (const job of jobs) {
      if (error === undefined) this.settle(job, undefined);
      else this.#storage.failed(job, error);
    }
  }

  /** Reports that the level of the job is reached or, with an error, that it is not. */
  settle(job: PendingJob, error: unknown): void {
    this.#limit.forget(job);
    this.#storage.unblock(job);
    job.settle(error);
  }

  /** Keeps the remaining jobs of a closed queue in the journal. Returns how many are lost. */
  keep(jobs: readonly PendingJob[], queue: SinkQueue): number {
    let lost = 0;
    for (const job of jobs) {
      if (job.isObsolete) {
        this.obsolete(job);
      } else if (job.place !== undefined || job.isRelayed) {
        this.settle(job, closedError());
      } else if (this.#host.journaling === undefined || (job.work && !job.standIn)) {
        lost++;
        this.#drop(job, queue, 'exit');
      } else {
        lost += this.#storage.keep(job, queue);
      }
    }
    return lost;
  }

  #drop(job: PendingJob, queue: SinkQueue, reason: DropReason): void {
    queue.drop(job, reason);
    if (job.onDuplicate !== undefined) this.#host.keyed.left(job);
    job.place?.journal.done(job.place);
    this.settle(
      job,
      new DeferError('ERR_REDLINE_DEFER_FULL', `The job ${job.id} (${job.job}) was dropped.`),
    );
  }

  #unreserve(job: PendingJob): SinkQueue {
    const queue = this.#host.queueOf(job);
    if (job.isReserved) {
      job.isReserved = false;
      queue.budget.unreserve();
    }
    return queue;
  }
}
