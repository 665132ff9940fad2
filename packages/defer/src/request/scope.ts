import { AsyncLocalStorage, type AsyncResource } from 'node:async_hooks';
import { asyncContext } from '../job/async-context.ts';
import { DeferError } from '../errors.ts';
import type { When, JobDefinition } from '../job/job.ts';
import type { DeferCallOptions, AfterOptions } from '../job/call-options.ts';
import type { RunDelivery } from '../sink.ts';
import type {
  AcknowledgementListener,
  Deferred,
  PendingJob,
  PendingOutcome,
} from '../sink-queue/pending-job.ts';
import type { Linked, SharedAbort, Unattributed } from './open-scopes.ts';

/** Facts of a request that its jobs carry. */
export type RequestFacts = {
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
  readonly requestId: string | undefined;
};

/** Receives the events of a request and of its jobs. */
export interface ScopeIntake {
  readonly unattributed: Unattributed;
  /** The request is open; `closed` is called when it has ended, or has its response and no jobs. */
  opened(scope: Scope): void;
  closed(scope: Scope): void;
  /** Work of another request ran in the context of `scope`: the jobs may belong to that request. */
  shared(scope: Scope): void;
  /** The response claims the job: it must be as safe as its level promises before the response leaves. */
  secure(job: PendingJob): void;
  /** The request has the outcome for which the job was meant. */
  dispatch(job: PendingJob): void;
  /** The request has another outcome. */
  withdraw(job: PendingJob): void;
}

/** Accepts the jobs of a request: a `Deferrer`. */
export interface ScopeDeferrer {
  readonly intake: ScopeIntake;
  defer<Data>(job: JobDefinition<Data>, data: Data, options?: DeferCallOptions): Deferred;
  after(work: (delivery: RunDelivery) => unknown, options?: AfterOptions): void;
}

/**
 * Progress of a response: ahead of its last bytes, within the call that sends them, or past it. That call is the response's
 * own `end`; wrappers may still be at work after it, out of reach.
 */
export type Passage = 'ahead' | 'ending' | 'behind';

/** Facts that a framework's adapter knows about its request, read only when a job is deferred. */
export interface ScopeHost {
  /** Returns a new object with each call. */
  facts(): RequestFacts;
  /** The request has a job now: `scope.end` must be called at its end. Called once. */
  watch(scope: Scope): void;
  /** Returns the status of a response that has been written as a whole, even if it is still on its way. */
  repliedWith(): number | undefined;
  readonly passage: Passage;
  /** The response of the request: the same object for every adapter. */
  readonly subject: object;
  /** True once the handler has given its whole response: it is on its way, or held. */
  readonly isAnswered: boolean;
  /** True if the client went away or the response was destroyed: no event may have announced its end. */
  readonly isGone: boolean;
  /** The response has something to wait for: `scope.hold` must be called before any more of it leaves. Called once per release. */
  guard(scope: Scope): void;
}

/**
 * A response that waits for what it claims. An object, not a closure made for it: storing a closure in a field makes V8 move
 * everything it reaches, all of the request, to the old generation. At 2,000 requests per second that was 20 to 30 ms of
 * collecting every second, in one piece.
 */
export interface HeldReply {
  /** Lets it leave; with an error if what it claims is not true, which it must report instead. */
  released(error: unknown): void;
}

/** The jobs of one request, from its arrival to the end of its response. */
export class Scope implements AcknowledgementListener, Linked<Scope> {
  readonly deferrer: ScopeDeferrer;
  before: Scope | undefined;
  after: Scope | undefined;
  isListed = false;
  /** Scope of another deferrer, or of an adapter that is installed twice, for the same request. */
  outer: Scope | undefined = undefined;
  readonly #host: ScopeHost;
  /** Jobs not yet decided on: they share the request's outcome. */
  #jobs: PendingJob[] = [];
  /** Number of acknowledgements that the response waits for. */
  #waiting = 0;
  #failure: unknown;
  #isWatched = false;
  #isGuarded = false;
  /** True once the response reports that what it claimed is not true. */
  #hasFailed = false;
  /** Number of jobs already examined for holding the response. */
  #secured = 0;
  /** Number of the last unattributed job that no longer concerns this request. */
  #sinceUnattributed: number;
  #sharedAborts: SharedAbort[] | undefined = undefined;
  /** Commits of transactions that contain a job of the request. */
  #commits: PendingOutcome[] | undefined = undefined;
  #outcome: Exclude<When, 'always'> | 'failure' | undefined;
  #held: { readonly reply: HeldReply; readonly context: AsyncResource } | undefined;

  constructor(deferrer: ScopeDeferrer, host: ScopeHost) {
    this.deferrer = deferrer;
    this.#host = host;
    this.#sinceUnattributed = deferrer.intake.unattributed.last;
    deferrer.intake.opened(this);
  }

  get facts(): RequestFacts {
    return this.#host.facts();
  }

  /** True once the response, or the client, is gone. */
  get hasEnded(): boolean {
    return this.#outcome !== undefined;
  }

  /** True while the response, or the rest of it, can still be held. */
  get canHold(): boolean {
    return !this.#hasFailed && this.isOpen && this.#host.passage === 'ahead';
  }

  /** True while the last bytes leave: too late to hold them, and too early to count as sent. */
  get isEnding(): boolean {
    return this.#host.passage === 'ending' && this.isOpen;
  }

  /** True until its response has been written as a whole. */
  get isOpen(): boolean {
    return this.#outcome === undefined && this.#host.repliedWith() === undefined;
  }

  /** True while work in its context is work of the request: the response is not complete yet. */
  get isAtWork(): boolean {
    return this.isOpen && !this.#host.isAnswered;
  }

  /** True if `subject` is the response of this request, in whichever of its scopes. */
  isOf(subject: object): boolean {
    return this.#host.subject === subject;
  }

  isSameAs(other: Scope | undefined): boolean {
    return other !== undefined && other.isOf(this.#host.subject);
  }

  /** True if its response is complete, or gone. */
  get isGone(): boolean {
    return this.#host.isGone || !this.isOpen;
  }

  /** True if no job depends on its outcome. */
  get isIdle(): boolean {
    return this.#jobs.length === 0 && this.#sharedAborts === undefined;
  }

  /** True if an unattributed job, which may belong to this request, has not reached its level. */
  get isConcerned(): boolean {
    const { unattributed } = this.deferrer.intake;
    // Costs one load per call of every response.
    return unattributed.last !== this.#sinceUnattributed && this.#isStillConcerned(unattributed);
  }

  #isStillConcerned(unattributed: Unattributed): boolean {
    return this.canHold && unattributed.concerns(this.#sinceUnattributed);
  }

  /** True if the response has something to wait for, or jobs to journal once its status is known. */
  get isGuarded(): boolean {
    return this.#isGuarded;
  }

  suits(when: When): boolean {
    return when === 'always' || when === this.#outcome;
  }

  /** Adds a job that shares the request's outcome. */
  add(job: PendingJob): void {
    this.#watch();
    // Watching may reveal that the response is long gone.
    if (this.hasEnded) return this.#decide(job);
    if (this.#jobs.push(job) === 1) this.deferrer.intake.opened(this);
    if (job.when === 'success' && job.level !== 'memory') this.#guard();
  }

  /** Holds the response until the job is acknowledged. */
  await(job: PendingJob): void {
    this.#waiting++;
    job.whenSettled(this);
    this.#watch();
    this.#guard();
  }

  /**
   * Holds a response that claims success until the commit. One that reports a failure may leave: its transaction is
   * expected to be rolled back.
   */
  awaitCommit(commit: PendingOutcome): void {
    (this.#commits ??= []).push(commit);
    this.#watch();
    this.#guard();
  }

  /**
   * Called when the response is about to leave with this status. Releases it when everything it claims is true, at once if
   * there is nothing to wait for.
   */
  hold(status: number, reply: HeldReply): void {
    if (status < 400 && this.canHold) {
      while (this.#secured < this.#jobs.length) {
        const job = this.#jobs[this.#secured++]!;
        if (job.when !== 'success' || job.level === 'memory') continue;
        this.await(job);
        this.deferrer.intake.secure(job);
      }
      this.#awaitUnattributed();
      if (this.#commits !== undefined) this.#awaitCommits(this.#commits);
    }
    if (this.#waiting > 0) {
      // One write acknowledges the jobs of many requests in a row: each response continues in its own context.
      this.#held = { reply, context: asyncContext() };
      return;
    }
    this.#answer(reply);
  }

  /** Holds the rest of the response for jobs that may be its own. */
  guard(): void {
    this.#guard();
  }

  /** Runs the job if this request is aborted, or another one that may have deferred it. */
  shareAbort(shared: SharedAbort): void {
    (this.#sharedAborts ??= []).push(shared);
    this.deferrer.intake.opened(this);
    this.#watch();
    // Watching may reveal that the response is gone.
    if (this.hasEnded) this.#decideShared();
  }

  /** Called when work of another request has run in this one's context: it is unknown which of the jobs are its own. */
  share(): void {
    this.deferrer.intake.shared(this);
  }

  /** Jobs whose outcome is open. */
  get jobs(): readonly PendingJob[] {
    return this.#jobs;
  }

  acknowledged(error: unknown): void {
    this.#waiting--;
    this.#failure ??= error;
    if (this.#waiting > 0 || this.#held === undefined) return;
    const { reply, context } = this.#held;
    this.#held = undefined;
    try {
      context.runInAsyncScope(this.#answer, this, reply);
    } catch (thrown) {
      // The error is the app's own, from a response that continues here. The caller has other jobs to settle.
      queueMicrotask(() => {
        throw thrown;
      });
    }
  }

  /** Called when the response is gone, as a whole or not: decides on its jobs. */
  end(status: number, isComplete: boolean): void {
    if (this.#outcome !== undefined) return;
    if (!isComplete) this.#outcome = 'aborted';
    else this.#outcome = status < 400 ? 'success' : 'failure';
    this.deferrer.intake.closed(this);
    const jobs = this.#jobs;
    if (jobs.length > 0) {
      this.#jobs = [];
      for (const job of jobs) this.#decide(job);
    }
    if (this.#sharedAborts !== undefined) this.#decideShared();
  }

  /** Called when the last bytes have left. */
  passed(): void {
    if (this.isIdle) this.deferrer.intake.closed(this);
  }

  /** Called when the deferrer closes: sends the jobs that are certain by then. */
  leave(): void {
    const status = this.#host.repliedWith();
    if (status !== undefined) return this.end(status, true);
    const certain = this.#jobs.filter(({ when }) => when === 'always');
    if (certain.length === 0) return;
    const isOpen = ({ when }: PendingJob): boolean => when !== 'always';
    this.#secured = this.#jobs.slice(0, this.#secured).filter(isOpen).length;
    this.#jobs = this.#jobs.filter(isOpen);
    for (const job of certain) this.deferrer.intake.dispatch(job);
  }

  #decide(job: PendingJob): void {
    if (job.isShared || this.suits(job.when)) this.deferrer.intake.dispatch(job);
    else this.deferrer.intake.withdraw(job);
  }

  #decideShared(): void {
    const shared = this.#sharedAborts!;
    this.#sharedAborts = undefined;
    for (const each of shared) {
      const verdict = each.ended(this.#outcome === 'aborted');
      if (verdict === 'runs') this.deferrer.intake.dispatch(each.job);
      if (verdict === 'withdrawn') this.deferrer.intake.withdraw(each.job);
    }
  }

  #awaitCommits(commits: readonly PendingOutcome[]): void {
    this.#commits = undefined;
    this.#waiting += commits.length;
    for (const commit of commits) commit.whenSettled(this);
  }

  #awaitUnattributed(): void {
    const { unattributed } = this.deferrer.intake;
    const since = this.#sinceUnattributed;
    if (since === unattributed.last) return;
    this.#sinceUnattributed = unattributed.last;
    this.#failure ??= unattributed.failureSince(since);
    this.#waiting += unattributed.addListener(since, this);
  }

  #watch(): void {
    if (this.#isWatched) return;
    this.#isWatched = true;
    this.#host.watch(this);
  }

  #guard(): void {
    if (this.#isGuarded) return;
    this.#isGuarded = true;
    this.#host.guard(this);
  }

  #answer(reply: HeldReply): void {
    const failure = this.#failure;
    if (failure === undefined) {
      // Jobs deferred from now on, by a hook or within a stream, hold the rest of the response.
      this.#isGuarded = false;
      return reply.released(undefined);
    }
    this.#failure = undefined;
    // A response that reports the failure is not held again.
    this.#hasFailed = true;
    reply.released(unsafe(failure));
  }
}

/* The cause is for the app only: it may name paths and servers, and this error goes to the client. */
function unsafe(cause: unknown): DeferError {
  const reason = cause instanceof DeferError ? ` (${cause.code})` : '';
  return new DeferError(
    'ERR_REDLINE_DEFER_NOT_ACKNOWLEDGED',
    `What this request deferred is not safe${reason}.`,
    { cause },
  );
}

export const scopes: AsyncLocalStorage<Scope> = new AsyncLocalStorage();
