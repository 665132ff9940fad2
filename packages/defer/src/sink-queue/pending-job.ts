import type { JobPlace } from '../journal/journal.ts';
import type { JobRecord } from '../journal/job-record.ts';
import type { DeferContext, Delivery, RunDelivery } from '../sink.ts';
import type { Restore } from '../job/async-context.ts';
import type { JobCounts } from '../job/job-counts.ts';
import type { Level, OnDuplicate, When } from '../job/job.ts';

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

/** Notified when the level of a job is reached, or will not be. */
export interface AcknowledgementListener {
  acknowledged(error: unknown): void;
}

/** Settles once: its level is reached, or is not. */
export interface PendingOutcome {
  whenSettled(listener: AcknowledgementListener): void;
}

class ListenerPair implements AcknowledgementListener {
  readonly #listeners: readonly AcknowledgementListener[];

  constructor(...listeners: AcknowledgementListener[]) {
    this.#listeners = listeners;
  }

  acknowledged(error: unknown): void {
    for (const listener of this.#listeners) listener.acknowledged(error);
  }
}

/** One deferred job, from the call to the sink: its data and its progress. It calls no other component. */
export class PendingJob implements Deferred, Delivery, JobRecord, PendingOutcome {
  readonly id: string;
  readonly sink: string;
  readonly job: string;
  readonly key: string | undefined;
  json: string;
  readonly deferredAtMs: number;
  context: DeferContext | undefined;
  options: Readonly<Record<string, unknown>> | undefined;
  /** No longer changed once it is recorded, or in its queue. */
  runAtMs: number | undefined;
  /** No longer changed once it is recorded, or in its queue. */
  level: Level;
  readonly onDuplicate: OnDuplicate | undefined;
  readonly when: When;
  restore: Restore | undefined;
  /** Called before each run that may end the process. */
  beforeRun: (() => void) | undefined = undefined;
  /** The closure of `defer.after`. */
  work: ((delivery: RunDelivery) => unknown) | undefined = undefined;
  /** Returns what the journal keeps of a closure. @throws when its data is not JSON */
  standIn: (() => JobRecord) | undefined = undefined;
  attempt: number;
  /** Counters of its name at its sink, once its queue has it. */
  counts: JobCounts | undefined = undefined;
  redelivered = false;
  /** Its place in the journal, once it has one. */
  place: JobPlace | undefined = undefined;
  /** True while it is the one job of its key that may be in flight. */
  holdsKey = false;
  /** Monotonic time from which it may be retried. */
  dueAtMs = 0;
  /** Suspected of making a send fail: it is sent in its own batch. */
  goesAlone = false;
  /** In its queue, or on the way to it. */
  isUnderway = false;
  /** Counted by its queue as a job of a request that has not ended. */
  isReserved = false;
  /** True while it waits for room in the journal before its queue gets it. */
  isHeldBack = false;
  /** Returned to the journal because memory is full. */
  isSpilled = false;
  /** Only the journal has its data. */
  isStripped = false;
  /** Its request is not known for certain: no outcome of a request withdraws it. */
  isShared = false;
  /** True while it waits for its time in memory. */
  isDelayed = false;
  /** Replaced or cancelled: it is no longer sent. */
  isObsolete = false;
  /** Came out of an outbox, which keeps it until it is delivered. */
  isRelayed = false;
  #listener: AcknowledgementListener | undefined = undefined;
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

  /** Time since which it waits: a delayed job is not late before it is due. */
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

  /** Releases what the journal has as well. */
  strip(): void {
    this.isStripped = true;
    this.json = '';
    this.context = undefined;
    this.options = undefined;
    this.restore = undefined;
  }

  /** Restores what `strip` has released. */
  refill({ json, context, options }: JobRecord): void {
    this.isStripped = false;
    this.json = json;
    this.context = context;
    this.options = options;
  }

  /** Notifies `listener` once of the outcome of its level; at once if that is known. */
  whenSettled(listener: AcknowledgementListener): void {
    if (this.#isSettled) listener.acknowledged(this.#failure);
    else if (this.#listener === undefined) this.#listener = listener;
    else this.#listener = new ListenerPair(this.#listener, listener);
  }

  /** Called by the intake only: the level is reached or, with an error, is not, and no response may claim it. */
  settle(error: unknown): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#failure = error;
    this.#listener?.acknowledged(error);
    this.#listener = undefined;
    if (error === undefined) this.#promised?.resolve();
    else this.#promised?.reject(error);
  }

  acknowledged(): Promise<void> {
    if (!this.#isSettled) return (this.#promised ??= Promise.withResolvers<void>()).promise;
    return this.#failure === undefined ? Promise.resolve() : Promise.reject(this.#failure);
  }

  /** True once it is known if its level is reached. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** True if its level is reached. */
  get isReached(): boolean {
    return this.#isSettled && this.#failure === undefined;
  }
}
