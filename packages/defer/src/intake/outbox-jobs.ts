import { levelError, DeferError } from '../errors.ts';
import type { Outbox, OutboxJob } from '../outbox.ts';
import { type Deferred, PendingJob } from '../sink-queue/pending-job.ts';
import type { Owner } from '../request/owner.ts';
import type { JobIntake } from './job-intake.ts';
import type { JobRecord } from '../journal/job-record.ts';
import type { Restore } from '../job/async-context.ts';
import type { DeferContext } from '../sink.ts';

/**
 * Makes the job a row of the caller's transaction.
 *
 * @throws {DeferError} ERR_REDLINE_DEFER_LEVEL, _TOO_LATE
 */
export function enqueueInOutbox(
  outbox: Outbox | undefined,
  job: PendingJob,
  transaction: unknown,
  intake: JobIntake,
  owner: Owner,
): Deferred {
  if (outbox === undefined || transaction === undefined) {
    throw levelError(
      outbox === undefined
        ? 'The level outbox needs an outbox: give createDefer the option outbox.'
        : 'The level outbox needs the client of your transaction: defer(job, data, { level: "outbox", transaction: client }).',
    );
  }
  if (job.when === 'aborted') {
    throw levelError(
      'A job of level outbox is part of its transaction, and cannot depend on the client going away.',
    );
  }
  intake.checkTime(job, owner);
  job.isUnderway = true;
  const { id, sink, key, json, deferredAtMs, context, options } = job;
  const row: OutboxJob = { id, sink, job: job.job, key, json, deferredAtMs, context, options };
  const written = outbox.enqueue(transaction, row);
  // Settles the job for the caller, which has yet to commit; the response waits for the commit.
  written.then(
    () => intake.settle(job, undefined),
    (error: unknown) => intake.settle(job, error),
  );
  intake.holdForCommit(job, written, owner);
  return job;
}

export interface RedeliveryHost {
  readonly hasJournal: boolean;
  /** Takes a job as if it were deferred now. @throws {DeferError} ERR_REDLINE_DEFER_UNKNOWN_SINK, _CLOSED, _FULL */
  accept(job: PendingJob): void;
  /** Hands it to its queue unchanged. @throws {DeferError} ERR_REDLINE_DEFER_UNKNOWN_SINK, _CLOSED */
  deliver(job: PendingJob): void;
  generationOf(sink: string): string | undefined;
  restoreFrom(context: DeferContext | undefined): Restore | undefined;
}

/** Jobs that come back from elsewhere: the rows of an outbox, and dead letters. */
export class Redelivery {
  readonly #host: RedeliveryHost;

  constructor(host: RedeliveryHost) {
    this.#host = host;
  }

  /** Called by the relay of an outbox: resolves when the sink has the job, with the generation of its server. */
  async relay(row: OutboxJob): Promise<string | undefined> {
    const job = this.#jobOf({ ...row, attempt: 1 }, 'sink');
    job.isRelayed = true;
    this.#host.deliver(job);
    try {
      await job.acknowledged();
      return this.#host.generationOf(row.sink);
    } catch (error) {
      if (!(error instanceof DeferError) || error.code !== 'ERR_REDLINE_DEFER_DEAD') throw error;
      return undefined;
    }
  }

  /** Dead letters survive a power failure; the requeued job must too. */
  async requeue(record: JobRecord): Promise<void> {
    const job = this.#jobOf({ ...record, attempt: 1 }, this.#host.hasJournal ? 'disk' : 'memory');
    job.redelivered = true;
    this.#host.accept(job);
    if (this.#host.hasJournal) await job.acknowledged();
  }

  #jobOf(record: JobRecord, level: 'memory' | 'disk' | 'sink'): PendingJob {
    // A newer job may hold its key: the returning job is independent of it.
    const own = record.onDuplicate === undefined ? record : { ...record, onDuplicate: undefined };
    return new PendingJob(own, level, 'always', this.#host.restoreFrom(record.context));
  }
}
