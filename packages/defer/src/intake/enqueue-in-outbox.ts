import { levelError } from '../errors.ts';
import type { Outbox, OutboxJob } from '../outbox.ts';
import type { Deferred, PendingJob } from '../sink-queue/pending-job.ts';
import type { Owner } from '../request/owner.ts';
import type { JobIntake } from './job-intake.ts';

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
