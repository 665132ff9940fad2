import { DeferError } from '../errors.ts';
import type { Outbox, OutboxJob } from '../outbox.ts';
import type { Deferred, PendingJob } from '../lane/pending-job.ts';
import type { Owner } from '../request/owner.ts';
import type { Desk } from './desk.ts';

/**
 * Makes the job a row of the caller's transaction.
 *
 * @throws {DeferError} ERR_REDLINE_DEFER_LEVEL
 */
export function enqueueInOutbox(
  outbox: Outbox | undefined,
  job: PendingJob,
  transaction: unknown,
  desk: Desk,
  owner: Owner,
): Deferred {
  if (outbox === undefined || transaction === undefined) {
    throw new DeferError(
      'ERR_REDLINE_DEFER_LEVEL',
      outbox === undefined
        ? 'The level outbox needs an outbox: give createDefer the option outbox.'
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
  // The response is held like for every other level; a caller that does not await it learns of a failure there.
  desk.hold(job, owner);
  outbox.enqueue(transaction, row).then(
    () => desk.settle(job, undefined),
    (error: unknown) => desk.settle(job, error),
  );
  return job;
}
