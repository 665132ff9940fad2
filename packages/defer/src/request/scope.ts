import { AsyncLocalStorage, type AsyncResource } from 'node:async_hooks';
import { asyncContext } from '../job/async-context.ts';
import { DeferError } from '../errors.ts';
import type { When } from '../job/level.ts';
import type { DeferCallOptions, AfterOptions } from '../job/call-options.ts';
import type { JobDefinition } from '../job/job.ts';
import type { RunDelivery } from '../sink.ts';
import type { Acknowledgement, Deferred, PendingJob, Settling } from '../lane/pending-job.ts';
import type { Linked } from './open-scopes.ts';
import type { SharedAbort, Unattributed } from './unattributed.ts';

/** What of a request its jobs take along. */
export type RequestFacts = {
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
  readonly requestId: string | undefined;
};

/** What a request does with its jobs. */
export interface ScopeDesk {
  /** Jobs whose request is not known. */
  readonly unattributed: Unattributed;
  /** The request is open; `closed` when it has ended, or has its response and no jobs. */
  opened(scope: Scope): void;
  closed(scope: Scope): void;
  /** Work of another request ran in the context of `scope`: its jobs may be that one's. */
  shared(scope: Scope): void;
  /** The response claims the job: it must be as safe as its level says before the response leaves. */
  secure(job: PendingJob): void;
  /** The request has the outcome the job was meant for. */
  dispatch(job: PendingJob): void;
  /** The request has another outcome. */
  withdraw(job: PendingJob): void;
}

/** Where the jobs of a request go: a `Deferrer`. */
export interface ScopeDeferrer {
  readonly desk: ScopeDesk;
  defer<Data>(job: JobDefinition<Data>, data: Data, options?: DeferCallOptions): Deferred;
  after(work: (delivery: RunDelivery) => unknown, options?: AfterOptions): void;
}

/**
 * Where a response is: ahead of its last bytes, within the call that sends them, or behind it. That call is the response's
 * own `end`; behind it wrappers may still be at work, out of reach.
 */
export type Passage = 'ahead' | 'ending' | 'behind';

/** What a framework's adapter knows of its request, asked only when a job is deferred. */
export interface ScopeHost {
  /** A new object with each call. */
  facts(): RequestFacts;
  /** The request has a job now: `scope.end` must be called at its end. Called once. */
  watch(scope: Scope): void;
  /** The status of a response that has been written as a whole, on its way as it may be. */
  repliedWith(): number | undefined;
  readonly passage: Passage;
  /** The response that all this is about: one object, whichever adapter looks at it. */
  readonly subject: object;
  /** The handler has given its whole response: it is on its way, or held. */
  readonly isAnswered: boolean;
  /** The client went away, or the response was destroyed: its end may have been announced to nobody. */
  readonly isGone: boolean;
  /** The response has something to wait for: `scope.hold` must be called before any more of it leaves. Once, until it is released. */
  guard(scope: Scope): void;
}

/**
 * A response that waits for what it claims. An object, and not a function made for it: a closure that is put into a field
 * has V8 move everything it reaches, all of the request, to the old generation. At 2,000 requests per second that was
 * 20 to 30 ms of collecting in each of them, in one piece.
 */
export interface HeldReply {
  /** It may leave; with an error when what it claims is not true, which it must say instead. */
  released(error: unknown): void;
}

/** A request, as far as its jobs go: from its arrival to the end of its response. */
export class Scope implements Acknowledgement, Linked<Scope> {
  readonly deferrer: ScopeDeferrer;
  before: Scope | undefined;
  after: Scope | undefined;
  isListed = false;
  /** That of another deferrer, or of an adapter that is installed twice, for the same request. */
  outer: Scope | undefined = undefined;
  readonly #host: ScopeHost;
  /** Not yet decided on: the request's outcome is theirs. */
  #jobs: PendingJob[] = [];
  /** Jobs whose level the response must wait for. */
  #waiting = 0;
  #failure: unknown;
  #isWatched = false;
  #isGuarded = false;
  /** The response says that what it claimed is not true. */
  #hasFailed = false;
  /** How many of the jobs the response has been held for, or was asked to be. */
  #secured = 0;
  /** The last job without a request that does not concern this one any more. */
  #sinceUnattributed: number;
  #sharedAborts: SharedAbort[] | undefined = undefined;
  /** Of transactions that have a job of the request. */
  #commits: Settling[] | undefined = undefined;
  #outcome: Exclude<When, 'always'> | 'failure' | undefined;
  #held: { readonly reply: HeldReply; readonly context: AsyncResource } | undefined;

  constructor(deferrer: ScopeDeferrer, host: ScopeHost) {
    this.deferrer = deferrer;
    this.#host = host;
    this.#sinceUnattributed = deferrer.desk.unattributed.last;
    deferrer.desk.opened(this);
  }

  get facts(): RequestFacts {
    return this.#host.facts();
  }

  /** True once the response, or the client, is gone. */
  get hasEnded(): boolean {
    return this.#outcome !== undefined;
  }

  /** True while the response can still be held, or the rest of it. */
  get canHold(): boolean {
    return !this.#hasFailed && this.isOpen && this.#host.passage === 'ahead';
  }

  /** True while the last bytes leave: too late to hold them, and too early to be behind them. */
  get isEnding(): boolean {
    return this.#host.passage === 'ending' && this.isOpen;
  }

  /** Its response has not been written as a whole. */
  get isOpen(): boolean {
    return this.#outcome === undefined && this.#host.repliedWith() === undefined;
  }

  /** Work in its context is work of the request: the response is not complete yet. */
  get isAtWork(): boolean {
    return this.isOpen && !this.#host.isAnswered;
  }

  /** The same request, whichever of its scopes that is. */
  isOf(subject: object): boolean {
    return this.#host.subject === subject;
  }

  isSameAs(other: Scope | undefined): boolean {
    return other !== undefined && other.isOf(this.#host.subject);
  }

  /** Has a response that is complete, or gone. */
  get isGone(): boolean {
    return this.#host.isGone || !this.isOpen;
  }

  /** No job is to be decided by its outcome. */
  get isIdle(): boolean {
    return this.#jobs.length === 0 && this.#sharedAborts === undefined;
  }

  /** A job without a request, which may be this one's, has not reached its level. */
  get isConcerned(): boolean {
    const { unattributed } = this.deferrer.desk;
    // One load for every call of every response.
    return unattributed.last !== this.#sinceUnattributed && this.#isStillConcerned(unattributed);
  }

  #isStillConcerned(unattributed: Unattributed): boolean {
    return this.canHold && unattributed.concerns(this.#sinceUnattributed);
  }

  /** True when the response has something to wait for, or jobs to journal once its status is known. */
  get isGuarded(): boolean {
    return this.#isGuarded;
  }

  suits(when: When): boolean {
    return when === 'always' || when === this.#outcome;
  }

  /** The job shares the request's outcome. */
  add(job: PendingJob): void {
    this.#watch();
    // The first look may show that the response is long gone.
    if (this.hasEnded) return this.#decide(job);
    if (this.#jobs.push(job) === 1) this.deferrer.desk.opened(this);
    if (job.when === 'success' && job.level !== 'memory') this.#guard();
  }

  /** The response must not leave before the job is acknowledged. */
  await(job: PendingJob): void {
    this.#waiting++;
    job.tell(this);
    this.#watch();
    this.#guard();
  }

  /**
   * A response that claims success must not leave before the commit. One that reports a failure may: its transaction is
   * expected to be rolled back.
   */
  awaitCommit(commit: Settling): void {
    (this.#commits ??= []).push(commit);
    this.#watch();
    this.#guard();
  }

  /**
   * The response is about to leave with this status. It is released when everything it claims is true, at once where there
   * is nothing to wait for.
   */
  hold(status: number, reply: HeldReply): void {
    if (status < 400 && this.canHold) {
      while (this.#secured < this.#jobs.length) {
        const job = this.#jobs[this.#secured++]!;
        if (job.when !== 'success' || job.level === 'memory') continue;
        this.await(job);
        this.deferrer.desk.secure(job);
      }
      this.#awaitUnattributed();
      if (this.#commits !== undefined) this.#awaitCommits(this.#commits);
    }
    if (this.#waiting > 0) {
      // A write acknowledges the jobs of many requests in a row: each response goes on in its own context.
      this.#held = { reply, context: asyncContext() };
      return;
    }
    this.#answer(reply);
  }

  /** It must wait, before any more of it leaves, for jobs that may be its own. */
  guard(): void {
    this.#guard();
  }

  /** The job runs if this request is aborted, or another one that may have deferred it. */
  shareAbort(shared: SharedAbort): void {
    (this.#sharedAborts ??= []).push(shared);
    this.deferrer.desk.opened(this);
    this.#watch();
    // The first look may show that the response is gone.
    if (this.hasEnded) this.#decideShared();
  }

  /** Work of another request has run in this one's context: which of the jobs are its own is not known. */
  share(): void {
    this.deferrer.desk.shared(this);
  }

  /** The jobs whose outcome is open. */
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
      // The error is the app's own, from a response that continues here. Whoever settles the job has others to settle.
      queueMicrotask(() => {
        throw thrown;
      });
    }
  }

  /** The response is gone, as a whole or not: its jobs are free to go. */
  end(status: number, isComplete: boolean): void {
    if (this.#outcome !== undefined) return;
    if (!isComplete) this.#outcome = 'aborted';
    else this.#outcome = status < 400 ? 'success' : 'failure';
    this.deferrer.desk.closed(this);
    const jobs = this.#jobs;
    if (jobs.length > 0) {
      this.#jobs = [];
      for (const job of jobs) this.#decide(job);
    }
    if (this.#sharedAborts !== undefined) this.#decideShared();
  }

  /** The last bytes have left. */
  passed(): void {
    if (this.isIdle) this.deferrer.desk.closed(this);
  }

  /** The deferrer closes: what is certain by now goes before it does. */
  leave(): void {
    const status = this.#host.repliedWith();
    if (status !== undefined) return this.end(status, true);
    const certain = this.#jobs.filter(({ when }) => when === 'always');
    if (certain.length === 0) return;
    const isOpen = ({ when }: PendingJob): boolean => when !== 'always';
    this.#secured = this.#jobs.slice(0, this.#secured).filter(isOpen).length;
    this.#jobs = this.#jobs.filter(isOpen);
    for (const job of certain) this.deferrer.desk.dispatch(job);
  }

  #decide(job: PendingJob): void {
    if (job.isShared || this.suits(job.when)) this.deferrer.desk.dispatch(job);
    else this.deferrer.desk.withdraw(job);
  }

  #decideShared(): void {
    const shared = this.#sharedAborts!;
    this.#sharedAborts = undefined;
    for (const each of shared) {
      const verdict = each.ended(this.#outcome === 'aborted');
      if (verdict === 'runs') this.deferrer.desk.dispatch(each.job);
      if (verdict === 'withdrawn') this.deferrer.desk.withdraw(each.job);
    }
  }

  #awaitCommits(commits: readonly Settling[]): void {
    this.#commits = undefined;
    this.#waiting += commits.length;
    for (const commit of commits) commit.tell(this);
  }

  #awaitUnattributed(): void {
    const { unattributed } = this.deferrer.desk;
    const since = this.#sinceUnattributed;
    if (since === unattributed.last) return;
    this.#sinceUnattributed = unattributed.last;
    this.#failure ??= unattributed.failureSince(since);
    this.#waiting += unattributed.tell(since, this);
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
      // What is deferred from now on, by a hook or within a stream, makes the rest of the response wait.
      this.#isGuarded = false;
      return reply.released(undefined);
    }
    this.#failure = undefined;
    // An answer that says so is the response then, and is not held again.
    this.#hasFailed = true;
    reply.released(unsafe(failure));
  }
}

/* The reason is for the app: it may name paths and servers, and this goes to the client. */
function unsafe(cause: unknown): DeferError {
  const reason = cause instanceof DeferError ? ` (${cause.code})` : '';
  return new DeferError(
    'ERR_REDLINE_DEFER_NOT_ACKNOWLEDGED',
    `What this request deferred is not safe${reason}.`,
    { cause },
  );
}

export const scopes: AsyncLocalStorage<Scope> = new AsyncLocalStorage();
