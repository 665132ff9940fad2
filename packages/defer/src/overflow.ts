import type { AcknowledgeLimit } from './acknowledge-limit.ts';
import { DeferError } from './errors.ts';
import type { Journaling } from './journaling.ts';
import type { PendingJob } from './pending-job.ts';

/**
 * Has the lane's `overflow` decide on a job that memory has no room for. False when the job itself was given up.
 *
 * @throws {DeferError} ERR_REDLINE_DEFER_FULL
 */
export function makeRoom(
  job: PendingJob,
  journaling: Journaling | undefined,
  limit: AcknowledgeLimit,
): boolean {
  const { lane } = job;
  const { overflow } = lane.options;
  if (overflow === 'spill' && job.level === 'memory') {
    journaling!.add(job);
    job.acknowledge(undefined);
    if (job.place !== undefined) return true;
    // The journal cannot take it, and memory must not.
  }
  if (overflow === 'drop-oldest') {
    if (!lane.dropOldest()) {
      lane.drop(job, 'overflow');
      return false;
    }
    if (job.level === 'memory') job.acknowledge(undefined);
    return true;
  }
  if (overflow === 'block' && lane.blocked < lane.options.maxPending) {
    if (job.level === 'sink') return true;
    limit.watch(job);
    lane.whenRoom(() => job.acknowledge(undefined));
    return true;
  }
  lane.stats.rejected++;
  throw new DeferError(
    'ERR_REDLINE_DEFER_FULL',
    `The sink ${lane.name} has ${lane.depth} jobs to go, and takes no more (maxPending, maxPendingBytes).`,
  );
}
