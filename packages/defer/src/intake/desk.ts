import type { Clock } from '../clock.ts';
import { DeferError } from '../errors.ts';
import type { PendingJob } from '../lane/pending-job.ts';
import { jobStates } from '../journal/segment.ts';
import type { KeyedJobs } from '../lane/keyed-jobs.ts';
import type { LaneReports } from '../lane/lane-host.ts';
import type { DropReason } from '../lane/lane-stats.ts';
import type { Lane } from '../lane/lane.ts';
import type { DeferLogger } from '../logger.ts';
import type { OutboxTransaction } from '../outbox.ts';
import { OpenScopes } from '../request/open-scopes.ts';
import type { Owner } from '../request/owner.ts';
import type { Scope, ScopeDesk } from '../request/scope.ts';
import { SharedAbort, Unattributed } from '../request/unattributed.ts';
import { AcknowledgeLimit } from './acknowledge-limit.ts';
import { Blocked } from './blocked.ts';
import { Commit, type CommitHost } from './commit.ts';
import type { Journaling } from './journaling.ts';
import {
  closedError,
  foreign,
  laneFull,
  notInTime,
  tooLate,
  withdrawn,
  type Foreign,
} from './refusals.ts';

export interface DeskHost {
  readonly clock: Clock;
  readonly logger: DeferLogger;
  readonly acknowledgeTimeoutMs: number;
  /** Undefined without a journal. */
  readonly journaling: Journaling | undefined;
  /** Jobs whose keys are taken. */
  readonly keyed: KeyedJobs;
  laneOf(job: PendingJob): Lane;
  isClosed(): boolean;
  /** Makes the job a dead letter. Resolves when that is written. */
  bury(job: PendingJob, error: unknown): Promise<void>;
}

/**
 * Takes every job in, and gets every report about it: from its request, the journal and its lane. Only the desk
 * acknowledges jobs, and only the desk waits for the journal.
 */
export class Desk implements ScopeDesk, LaneReports {
  readonly #host: DeskHost;
  readonly #limit: AcknowledgeLimit<PendingJob>;
  readonly #blocked: Blocked;
  readonly #commitHost: CommitHost;
  /** Jobs of an unknown one of the open requests. */
  readonly unattributed: Unattributed = new Unattributed();
  unattributedJobs = 0;
  withdrawnJobs = 0;
  readonly #scopes = new OpenScopes<Scope>();
  readonly #told = new Set<Foreign | 'commit'>();

  constructor(host: DeskHost) {
    this.#host = host;
    const { clock, acknowledgeTimeoutMs } = host;
    this.#limit = new AcknowledgeLimit(clock, acknowledgeTimeoutMs, (job) =>
      this.settle(job, notInTime(job, acknowledgeTimeoutMs)),
    );
    this.#commitHost = {
      clock,
      limitMs: acknowledgeTimeoutMs,
      tookTooLong: (error) => this.#tellLateCommit(error),
    };
    this.#blocked = new Blocked(
      clock,
      () => host.journaling!.hasRoom(),
      (job) => this.#unblock(job),
    );
  }

  /**
   * Takes a new job, for the request that deferred it.
   *
   * @throws {DeferError} ERR_REDLINE_DEFER_FULL, _TOO_LATE
   */
  accept(job: PendingJob, owner: Owner): PendingJob {
    const { scope } = owner;
    if (!owner.isCertain && this.#isForeign(scope)) return this.#acceptForeign(job, scope);
    const isDecided = scope === undefined || scope.hasEnded;
    const suits = scope === undefined ? job.when !== 'aborted' : scope.suits(job.when);
    if (isDecided && !suits) {
      this.#withdrawn(job);
      return job;
    }
    if (job.level !== 'memory' && job.when !== 'aborted') this.checkTime(job, owner);
    const lane = this.#host.laneOf(job);
    if (job.onDuplicate !== undefined) {
      this.#host.keyed.prepare(job);
      if ((isDecided || job.when === 'always') && this.#isKept(job, scope)) return job;
    }
    // Jobs whose outcome is open are kept in memory until then; only the response's own status decides on them.
    const isCertain = isDecided || job.when === 'always';
    const isKept = job.isJournaled ? !isCertain || this.#record(job, lane) : this.#load(job, lane);
    // Whatever has happened to it by now: a response that claims it must not leave.
    const isClaimed = job.level !== 'memory' || !job.isSettled;
    if (isCertain && isClaimed && scope?.canHold) scope.await(job);
    if (!isKept) return job;
    if (isDecided) {
      this.deliver(job);
    } else if (job.level === 'sink' && isCertain) {
      this.deliver(job);
      scope.add(job);
    } else {
      lane.reserve();
      job.isReserved = true;
      scope.add(job);
    }
    return job;
  }

  /** @throws {DeferError} ERR_REDLINE_DEFER_TOO_LATE */
  checkTime(job: PendingJob, { scope }: Owner): void {
    if (scope?.isEnding) throw tooLate(job);
  }

  /** The response that the job belongs to waits for the commit of its row, or each one it may belong to. */
  holdForCommit(
    job: PendingJob,
    row: Promise<OutboxTransaction | void>,
    { scope, isCertain }: Owner,
  ): void {
    const isForeign = !isCertain && this.#isForeign(scope);
    if (!isForeign && !scope?.canHold) return;
    const commit = new Commit(job, row, this.#commitHost);
    if (isForeign) {
      this.#tellForeign(job, scope);
      this.unattributed.add(commit);
    } else {
      scope!.awaitCommit(commit);
    }
  }

  /*
   * Outside of a request's context, or in that of one that has its response, work may be that of any request that is open:
   * the callbacks of a shared connection and the queues of limiters run in whichever context they were made in.
   */
  #isForeign(scope: Scope | undefined): boolean {
    if (scope !== undefined && (scope.isAtWork || scope.isEnding)) return false;
    return this.#scopes.some((other) => !other.isGone && !other.isSameAs(scope));
  }

  /* No outcome of a request may withdraw it. @throws {DeferError} ERR_REDLINE_DEFER_FULL */
  #acceptForeign(job: PendingJob, scope: Scope | undefined): PendingJob {
    const lane = this.#host.laneOf(job);
    if (job.when === 'aborted' && !(scope !== undefined && scope.suits('aborted'))) {
      this.#shareAbort(job, lane, scope);
      return job;
    }
    this.#tellForeign(job, scope);
    if (job.onDuplicate !== undefined) this.#host.keyed.prepare(job);
    const isKept = job.isJournaled ? this.#record(job, lane) : this.#load(job, lane);
    if (job.level !== 'memory' || !job.isSettled) this.unattributed.add(job);
    if (isKept) this.deliver(job);
    return job;
  }

  /* @throws {DeferError} ERR_REDLINE_DEFER_FULL */
  #shareAbort(job: PendingJob, lane: Lane, scope: Scope | undefined): void {
    const candidates = this.#scopes.all().filter((other) => !other.isGone || other === scope);
    if (!job.isJournaled && !this.#load(job, lane)) return;
    lane.reserve();
    job.isReserved = true;
    const shared = new SharedAbort(job, candidates.length);
    for (const candidate of candidates) candidate.shareAbort(shared);
  }

  #tellForeign(job: PendingJob, scope: Scope | undefined): void {
    this.unattributedJobs++;
    const where = scope === undefined ? 'outside' : 'answered';
    if (job.level === 'memory' || this.#told.has(where)) return;
    this.#told.add(where);
    this.#host.logger.warn(...foreign(job, where));
  }

  #tellLateCommit(error: Error): void {
    if (this.#told.has('commit')) return;
    this.#told.add('commit');
    this.#host.logger.warn(`defer: ${error.message}`, error);
  }

  /** Hands the job to its lane. */
  deliver(job: PendingJob): void {
    const lane = this.#host.laneOf(job);
    job.isUnderway = true;
    if (job.onDuplicate !== undefined && this.#isDuplicate(job)) return;
    if (job.level === 'memory' && job.place === undefined && lane.isBehindSpilled) {
      this.#recordLate(job, lane);
    }
    if (job.level === 'sink' && !job.isRelayed && !job.isSettled) this.#limit.watch(job);
    // Neither memory nor the journal has room for it, and it may wait for some.
    if (this.#blocked.has(job) && lane.isFull) job.isHeldBack = true;
    else if (!lane.enqueue(job)) this.#drop(job, lane, 'overflow');
  }

  /* Another one stands for it, which the response waits for in its place. */
  #isKept(job: PendingJob, scope: Scope | undefined): boolean {
    const isKept = this.#host.keyed.tellOfKept(job, {
      acknowledged: (error) => this.settle(job, error),
    });
    if (isKept && !job.isSettled && scope?.canHold) scope.await(job);
    return isKept;
  }

  /* True when another one stands for it. */
  #isDuplicate(job: PendingJob): boolean {
    if (this.#isKept(job, undefined)) {
      job.place?.journal.done(job.place);
      return true;
    }
    this.#host.keyed.enter(job);
    return false;
  }

  /**
   * Gives up a job that waits. Resolves when its end is written, where it was: with false if none waited.
   */
  async cancel(wanted: { sink: string; job: string; key: string }): Promise<boolean> {
    const cancelled = this.#host.keyed.cancel(wanted);
    if (cancelled === undefined) return false;
    const { job, place } = cancelled;
    // It was deferred, and whoever waits for its level need not.
    if (job !== undefined) this.settle(job, undefined);
    await place?.journal.settled();
    return true;
  }

  opened(scope: Scope): void {
    this.#scopes.add(scope);
    // The end of one whose client went away may have been announced to nobody: each arrival looks at one other.
    const { oldest } = this.#scopes;
    if (oldest === undefined || oldest === scope) return;
    this.#scopes.remove(oldest);
    if (!oldest.isIdle || !oldest.isGone) this.#scopes.add(oldest);
  }

  closed(scope: Scope): void {
    this.#scopes.remove(scope);
  }

  /** Which of its jobs are its own is not known: they are kept, and other responses wait for them. */
  shared(scope: Scope): void {
    for (const job of scope.jobs) {
      if (job.isShared) continue;
      job.isShared = true;
      this.#tellForeign(job, scope);
      if (job.level === 'memory') continue;
      if (job.when === 'success' && job.place === undefined) this.secure(job);
      this.unattributed.add(job);
    }
  }

  /** The lanes close: jobs of open requests whose outcome is certain are sent before that. */
  leaveScopes(): void {
    for (const scope of this.#scopes.all()) scope.leave();
  }

  secure(job: PendingJob): void {
    if (job.level === 'sink') this.deliver(job);
    else this.#recordLate(job, this.#host.laneOf(job));
  }

  dispatch(job: PendingJob): void {
    const lane = this.#unreserve(job);
    if (job.isUnderway) return;
    if (this.#host.isClosed()) {
      // Its lane is gone. The next process finds the job in the journal.
      if (job.place === undefined) this.#drop(job, lane, 'exit');
      return;
    }
    if (job.isJournaled && job.place === undefined) this.#recordLate(job, lane);
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
    // A lower level is reached when the journal says so, even if the sink was faster.
    if (!job.isJournaled || this.#blocked.delete(job)) this.settle(job, undefined);
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
    if (job.isJournaled && !this.#blocked.delete(job)) return;
    const sentence = `The job ${job.id} (${job.job}) failed for good in the sink ${sink}.`;
    this.settle(job, new DeferError('ERR_REDLINE_DEFER_DEAD', sentence, { cause: error }));
  }

  /** For the journal. */
  committed(jobs: readonly PendingJob[], error: unknown): void {
    for (const job of jobs) {
      if (error === undefined) this.settle(job, undefined);
      else this.#journalFailed(job, error);
    }
  }

  /** The level of the job is reached, or with an error: it is not. */
  settle(job: PendingJob, error: unknown): void {
    this.#limit.forget(job);
    this.#blocked.delete(job);
    job.settle(error);
  }

  /** The lane is closed: the journal takes the remaining jobs. Returns how many are lost. */
  keep(jobs: readonly PendingJob[], lane: Lane): number {
    let lost = 0;
    for (const job of jobs) {
      if (job.isObsolete) {
        this.obsolete(job);
      } else if (job.place !== undefined || job.isRelayed) {
        this.settle(job, closedError());
      } else if (this.#host.journaling === undefined || (job.work && !job.standIn)) {
        lost++;
        this.#drop(job, lane, 'exit');
      } else {
        lost += this.#keep(job, lane);
      }
    }
    return lost;
  }

  /* The next process finds it. Returns how many are lost. */
  #keep(job: PendingJob, lane: Lane): 0 | 1 {
    try {
      this.#host.journaling!.append(job, job.standIn?.());
      // It was deferred, and is safe; but the level `sink` has not been reached.
      if (!job.isJournaled) this.settle(job, job.level === 'sink' ? closedError() : undefined);
      return 0;
    } catch (error) {
      this.#drop(job, lane, 'exit');
      this.#host.logger.warn(
        `defer: the job ${job.id} (${job.job}) could not be journaled.`,
        error,
      );
      return 1;
    }
  }

  /* Memory holds it until its lane has it. False when it was given up. @throws {DeferError} ERR_REDLINE_DEFER_FULL */
  #load(job: PendingJob, lane: Lane): boolean {
    if (!lane.isFull) {
      if (job.level === 'memory') this.settle(job, undefined);
      return true;
    }
    const { overflow } = lane.options;
    if (overflow === 'spill' && job.level === 'memory') {
      this.#record(job, lane);
      if (job.place !== undefined) {
        this.settle(job, undefined);
        return true;
      }
      // The journal cannot take it, and memory must not.
    }
    if (overflow === 'drop-oldest') {
      if (!this.#replaceOldest(job, lane)) return false;
      if (job.level === 'memory') this.settle(job, undefined);
      return true;
    }
    if (overflow === 'block' && lane.blocked < lane.options.maxPending) {
      if (job.level === 'sink') return true;
      this.#limit.watch(job);
      lane.whenRoom(() => this.settle(job, undefined));
      return true;
    }
    lane.stats.rejected++;
    throw laneFull(lane);
  }

  /* An acknowledged job is not dropped for one of memory: the journal has it. @throws {DeferError} ERR_REDLINE_DEFER_FULL */
  #replaceOldest(job: PendingJob, lane: Lane): boolean {
    const { oldest } = lane;
    if (oldest?.isJournaled && (oldest.place !== undefined || oldest.isReached)) {
      if (lane.spillOldest()) return true;
      lane.stats.rejected++;
      throw laneFull(lane);
    }
    const dropped = lane.takeOldest();
    this.#drop(dropped ?? job, lane, 'overflow');
    return dropped !== undefined;
  }

  /* Gives the job to the journal, which confirms it later. @throws {DeferError} ERR_REDLINE_DEFER_FULL */
  #record(job: PendingJob, lane: Lane): true {
    if (this.#recordOrBlock(job, lane)) return true;
    lane.stats.rejected++;
    throw this.#host.journaling!.full();
  }

  /* The same where no call is left that could throw. */
  #recordLate(job: PendingJob, lane: Lane): void {
    if (!this.#recordOrBlock(job, lane)) this.settle(job, this.#host.journaling!.full());
  }

  /* False when there is no room. */
  #recordOrBlock(job: PendingJob, lane: Lane): boolean {
    const journaling = this.#host.journaling!;
    if (journaling.hasRoom() || journaling.makeRoom(lane)) {
      this.#append(job);
      return true;
    }
    // A refused job does not wait a second time.
    if (lane.options.overflow !== 'block' || job.isSettled) return false;
    if (this.#blocked.size >= lane.options.maxPending) return false;
    this.#blocked.add(job);
    this.#limit.watch(job);
    return true;
  }

  #unblock(job: PendingJob): void {
    this.#append(job);
    if (!job.isHeldBack) return;
    job.isHeldBack = false;
    this.deliver(job);
  }

  #append(job: PendingJob): void {
    try {
      this.#host.journaling!.append(job);
    } catch (error) {
      this.#journalFailed(job, error);
    }
  }

  /* It stays in memory if it is there, and is delivered from there. The app decides whether that is enough. */
  #journalFailed(job: PendingJob, error: unknown): void {
    const { place } = job;
    // Jobs that could not be synced were still written.
    const isWritten =
      place !== undefined && place.segment.stateOf(place.number) !== jobStates.absent;
    if (!isWritten) job.place = undefined;
    // Its level, memory, was acknowledged: a delayed job that was to wait on disk waits there.
    if (!isWritten && job.level === 'memory' && job.isSpilled) this.#host.laneOf(job).takeBack(job);
    const isInMemory = !job.isSpilled && (job.isUnderway || !this.#host.laneOf(job).isFull);
    const isEnough = this.#host.journaling!.degrades && (isInMemory || isWritten);
    this.settle(job, isEnough ? undefined : error);
  }

  #drop(job: PendingJob, lane: Lane, reason: DropReason): void {
    lane.drop(job, reason);
    if (job.onDuplicate !== undefined) this.#host.keyed.left(job);
    job.place?.journal.done(job.place);
    this.settle(
      job,
      new DeferError('ERR_REDLINE_DEFER_FULL', `The job ${job.id} (${job.job}) was dropped.`),
    );
  }

  #unreserve(job: PendingJob): Lane {
    const lane = this.#host.laneOf(job);
    if (job.isReserved) {
      job.isReserved = false;
      lane.unreserve();
    }
    return lane;
  }
}
