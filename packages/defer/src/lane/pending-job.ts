import type { JobPlace } from '../journal/journal.ts';
import type { JobRecord } from '../journal/job-record.ts';
import type { DeferContext, Delivery, RunDelivery } from '../sink.ts';
import type { Restore } from '../job/async-context.ts';
import type { JobCounts } from '../job/job-counts.ts';
import type { Level, OnDuplicate, When } from '../job/level.ts';

/** The result of `defer()`. */
export interface Deferred {
  /** The job's id, the same in sinks and dead letters. */
  readonly id: string;
  /**
   * Resolves when the job's level is reached. In a request the response waits for it automatically; elsewhere, and for
   * the outbox before its commit (when the row is in the transaction), the caller awaits it.
   *
   * Rejects with a DeferError: ERR_REDLINE_DEFER_JOURNAL, _FULL, _DEAD, _WITHDRAWN, _CLOSED, _NOT_ACKNOWLEDGED.
   */
  acknowledged(): Promise<void>;
}

/** Is notified when the level of a job is reached, or will not be. */
export interface Acknowledgement {
  acknowledged(error: unknown): void;
}

/** Has a level that is reached, or is not. */
export interface Settling {
  /** Notifies `waiter` once. */
  tell(waiter: Acknowledgement): void;
}

class Both implements Acknowledgement {
  readonly #waiters: readonly Acknowledgement[];

  constructor(...waiters: Acknowledgement[]) {
    this.#waiters = waiters;
  }

  acknowledged(error: unknown): void {
    for (const waiter of this.#waiters) waiter.acknowledged(error);
  }
}

/** One deferred job, from the call to the sink: its data and its progress. It calls nobody. */
export class PendingJob implements Deferred, Delivery, JobRecord, Settling {
  readonly id: string;
  readonly sink: string;
  readonly job: string;
  readonly key: string | undefined;
  json: string;
  readonly deferredAtMs: number;
  context: DeferContext | undefined;
  options: Readonly<Record<string, unknown>> | undefined;
  /** Not changed any more once it is recorded, or in its lane. */
  runAtMs: number | undefined;
  /** The same. */
  level: Level;
  readonly onDuplicate: OnDuplicate | undefined;
  readonly when: When;
  restore: Restore | undefined;
  /** Called before each run that may end the process. */
  beforeRun: (() => void) | undefined = undefined;
  /** The closure of `defer.after`. */
  work: ((delivery: RunDelivery) => unknown) | undefined = undefined;
  /** What the journal keeps of a closure. @throws when its data is not JSON */
  standIn: (() => JobRecord) | undefined = undefined;
  attempt: number;
  /** The counters of its name in its sink, once its lane has it. */
  counts: JobCounts | undefined = undefined;
  redelivered = false;
  /** Its place in the journal, once it has one. */
  place: JobPlace | undefined = undefined;
  /** True while it is the one job of its key that may be in flight. */
  holdsKey = false;
  /** Monotonic time from which it may be tried again. */
  dueAtMs = 0;
  /** Suspected of making a send fail: it is sent in a batch of its own. */
  goesAlone = false;
  /** In its lane, or on the way to it. */
  isUnderway = false;
  /** Counted by its lane as a job of a request that has not ended. */
  isReserved = false;
  /** Waits for room in the journal before its lane gets it. */
  isHeldBack = false;
  /** Given back to the journal because memory is full. */
  isSpilled = false;
  /** The journal alone has its data. */
  isStripped = false;
  /** Its request is not known for certain: no outcome of a request withdraws it. */
  isShared = false;
  /** Waits for its time in memory. */
  isDelayed = false;
  /** Another one has its place, or it was cancelled: it is not sent any more. */
  isObsolete = false;
  /** Came out of an outbox, which keeps it until it is delivered. */
  isRelayed = false;
  #waiter: Acknowledgement | undefined = undefined;
  #promised: PromiseWithResolvers<void> | undefined = undefined;
  #isSettled = false;
  #failure: unknown = undefined;

  constructor(record: JobRecord, level: Level, when: When, restore: Restore | undefined) {
    this.id = record.id;
    this.sink = record.sink;
    this.job = record.job;
    this.key = record.key;
    this.json = record.json;
    this.deferredAtMs = record.deferredAtMs;
    this.attempt = record.attempt;
    this.context = record.context;
    this.options = record.options;
    this.runAtMs = record.runAtMs;
    this.onDuplicate = record.onDuplicate;
    this.level = level;
    this.when = when;
    this.restore = restore;
  }

  /** True if the journal decides about its level. */
  get isJournaled(): boolean {
    return this.level === 'process' || this.level === 'disk';
  }

  /** The time since which it waits: a delayed job is not late before it is due. */
  get waitsSinceMs(): number {
    return this.runAtMs ?? this.deferredAtMs;
  }

  get length(): number {
    return this.json.length;
  }

  run<T>(work: () => T): T {
    this.beforeRun?.();
    return this.restore === undefined ? work() : this.restore(work);
  }

  /** Lets go of what the journal has too. */
  strip(): void {
    this.isStripped = true;
    this.json = '';
    this.context = undefined;
    this.options = undefined;
    this.restore = undefined;
  }

  /** Has it again. */
  refill({ json, context, options }: JobRecord): void {
    this.isStripped = false;
    this.json = json;
    this.context = context;
    this.options = options;
  }

  /** Notifies `waiter` once whether the level is reached; at once if that is known. */
  tell(waiter: Acknowledgement): void {
    if (this.#isSettled) waiter.acknowledged(this.#failure);
    else this.#waiter = this.#waiter === undefined ? waiter : new Both(this.#waiter, waiter);
  }

  /** Only for the desk: the level is reached or, with an error, is not, and nobody may claim it. */
  settle(error: unknown): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#failure = error;
    this.#waiter?.acknowledged(error);
    this.#waiter = undefined;
    if (error === undefined) this.#promised?.resolve();
    else this.#promised?.reject(error);
  }

  acknowledged(): Promise<void> {
    if (!this.#isSettled) return (this.#promised ??= Promise.withResolvers<void>()).promise;
    return this.#failure === undefined ? Promise.resolve() : Promise.reject(this.#failure);
  }

  /** Whether its level is reached is known. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Its level is reached. */
  get isReached(): boolean {
    return this.#isSettled && this.#failure === undefined;
  }
}
