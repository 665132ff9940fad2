import type { AcknowledgeLimit } from './acknowledge-limit.ts';
import type { Restore } from './async-context.ts';
import type { JobPlace } from './journal/journal.ts';
import type { JobRecord } from './journal/job-record.ts';
import type { Lane } from './lane/lane.ts';
import type { Level, When } from './level.ts';
import type { DeferContext, Delivery } from './sink.ts';

/** What a `defer()` call returns. */
export interface Deferred {
  /** The job's id, as sinks and dead letters have it. */
  readonly id: string;
  /**
   * Resolves when the job's level is reached. In a request the reply waits for it by itself; elsewhere, and for the
   * outbox before its commit, the caller awaits it.
   *
   * Rejects with a DeferError: ERR_REDLINE_DEFER_JOURNAL, _FULL, _DEAD, _WITHDRAWN, _CLOSED, _NOT_ACKNOWLEDGED.
   */
  acknowledged(): Promise<void>;
}

/** Who is told when the level of a job is reached, or that it will not be. */
export interface Acknowledgement {
  acknowledged(error: unknown): void;
}

/** One deferred job, from the call to the sink. */
export class PendingJob implements Deferred, Delivery, JobRecord {
  readonly id: string;
  readonly lane: Lane;
  readonly job: string;
  readonly key: string | undefined;
  readonly json: string;
  readonly deferredAtMs: number;
  readonly context: DeferContext | undefined;
  readonly options: Readonly<Record<string, unknown>> | undefined;
  readonly level: Level;
  readonly when: When;
  readonly restore: Restore | undefined;
  /** The closure of `defer.after`. */
  work: (() => unknown) | undefined = undefined;
  attempt = 1;
  redelivered = false;
  /** Where the journal has it, once it has. */
  place: JobPlace | undefined = undefined;
  /** True while it is the one job of its key that may be in flight. */
  holdsKey = false;
  /** Monotonic time from which it may be tried again. */
  dueAtMs = 0;
  /** On its way to its lane, or there. */
  isUnderway = false;
  /** At its sink, or with the dead letters. */
  isFinished = false;
  /** Counted by its lane as a job of a request that has not ended. */
  isReserved = false;
  /** Came out of an outbox, which keeps it until it is delivered. */
  isRelayed = false;
  /** Who gives up on its level when it takes too long. */
  limit: AcknowledgeLimit | undefined = undefined;
  #waiter: Acknowledgement | undefined = undefined;
  #promised: PromiseWithResolvers<void> | undefined = undefined;
  #isAcknowledged = false;
  #failure: unknown = undefined;

  constructor(
    lane: Lane,
    id: string,
    job: string,
    key: string | undefined,
    json: string,
    deferredAtMs: number,
    context: DeferContext | undefined,
    options: Readonly<Record<string, unknown>> | undefined,
    level: Level,
    when: When,
    restore: Restore | undefined,
  ) {
    this.id = id;
    this.lane = lane;
    this.job = job;
    this.key = key;
    this.json = json;
    this.deferredAtMs = deferredAtMs;
    this.context = context;
    this.options = options;
    this.level = level;
    this.when = when;
    this.restore = restore;
  }

  static fromRecord(
    lane: Lane,
    record: JobRecord,
    restore: Restore | undefined,
    level: Level = 'process',
  ): PendingJob {
    const { id, job, key, json, deferredAtMs, context, options, attempt } = record;
    const pending = new PendingJob(
      lane,
      id,
      job,
      key,
      json,
      deferredAtMs,
      context,
      options,
      level,
      'always',
      restore,
    );
    pending.attempt = attempt;
    return pending;
  }

  get sink(): string {
    return this.lane.name;
  }

  /** True when its level is the journal's to reach. */
  get isJournaled(): boolean {
    return this.level === 'process' || this.level === 'disk';
  }

  get length(): number {
    return this.json.length;
  }

  run<T>(work: () => T): T {
    return this.restore === undefined ? work() : this.restore(work);
  }

  /** Has `waiter` told, once, when the level is reached. */
  tell(waiter: Acknowledgement): void {
    if (this.#isAcknowledged) waiter.acknowledged(this.#failure);
    else this.#waiter = waiter;
  }

  /** The level is reached, or with an error: it is not, and nobody may claim it. */
  acknowledge(error: unknown): void {
    if (this.#isAcknowledged) return;
    this.#isAcknowledged = true;
    this.#failure = error;
    this.limit?.forget(this);
    this.#waiter?.acknowledged(error);
    this.#waiter = undefined;
    if (error === undefined) this.#promised?.resolve();
    else this.#promised?.reject(error);
  }

  acknowledged(): Promise<void> {
    if (!this.#isAcknowledged) return (this.#promised ??= Promise.withResolvers<void>()).promise;
    return this.#failure === undefined ? Promise.resolve() : Promise.reject(this.#failure);
  }

  get isAcknowledged(): boolean {
    return this.#isAcknowledged;
  }

  /** For the journal, as the waiter of a write or sync. */
  committed(error: unknown): void {
    this.lane.committed(this, error);
  }
}
