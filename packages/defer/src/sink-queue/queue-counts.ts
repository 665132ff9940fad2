import { JobCountsByName, type JobCounts, type JobFailure } from '../job/job-counts.ts';
import type { PendingJob } from './pending-job.ts';

/** Upper bounds of the buckets of the lag, in seconds. */
export const lagBuckets: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
];

export type DropReason = 'overflow' | 'exit' | 'unreadable' | 'dead-letters-full';

export const dropReasons: Readonly<Record<DropReason, string>> = {
  overflow: 'the queue is full',
  exit: 'the process ends',
  unreadable: 'it cannot be read back',
  'dead-letters-full': 'there are too many dead letters',
};

/** Counts of the jobs of one sink since the start. */
export class QueueCounts {
  /** The same counts by job name. */
  readonly byName: JobCountsByName = new JobCountsByName();
  /** Accepted from callers, without those withdrawn. */
  deferred = 0;
  /** Acknowledged by the sink. */
  sent = 0;
  /** Retried, because the job failed. */
  retried = 0;
  /** Sent again, because the sink was unavailable. */
  resent = 0;
  /** Sent again, because the sink's server came back with less. */
  replayed = 0;
  dead = 0;
  /** Kept only on disk, because memory was full. */
  spilled = 0;
  /** Refused with ERR_REDLINE_DEFER_FULL. */
  rejected = 0;
  readonly dropped: Record<DropReason, number> = {
    overflow: 0,
    exit: 0,
    unreadable: 0,
    'dead-letters-full': 0,
  };
  batches = 0;
  /** Batches that found the sink unavailable. */
  failures = 0;
  /** From the call to the sink's acknowledgement. One count for each of `lagBuckets`, not cumulative, and one above. */
  readonly lag: number[] = Array.from({ length: lagBuckets.length + 1 }, () => 0);
  lagSumSeconds = 0;

  addLag(ms: number): void {
    // The wall clock may have been set back meanwhile.
    const seconds = Math.max(0, ms) / 1_000;
    this.lagSumSeconds += seconds;
    let bucket = 0;
    while (bucket < lagBuckets.length && seconds > lagBuckets[bucket]!) bucket++;
    this.lag[bucket]!++;
  }
}

/** Statistics of the jobs of one name at one sink, since the process started. */
export interface JobStats {
  readonly job: string;
  /** Jobs not at the sink yet. */
  readonly depth: number;
  /** Wall clock of the oldest of them. */
  readonly oldestAtMs: number | undefined;
  /** Attempts that have ended, successfully or not. An unavailable sink does not count. */
  readonly attempts: number;
  /** Failed attempts. */
  readonly failures: number;
  readonly dead: number;
  readonly lastFailure: JobFailure | undefined;
}

export function jobStatsOf(byName: JobCountsByName, inMemory: Iterable<PendingJob>): JobStats[] {
  const oldest = new Map<JobCounts, number>();
  const compare = (counts: JobCounts, atMs: number): void => {
    if (atMs < (oldest.get(counts) ?? Infinity)) oldest.set(counts, atMs);
  };
  for (const { counts, waitsSinceMs } of inMemory) compare(counts!, waitsSinceMs);
  for (const counts of byName) {
    if (counts.oldestOnDiskAtMs !== undefined) compare(counts, counts.oldestOnDiskAtMs);
  }
  return Array.from(byName, (counts) => ({
    job: counts.name,
    depth: counts.depth,
    oldestAtMs: oldest.get(counts),
    attempts: counts.sent + counts.retried + counts.dead,
    failures: counts.retried + counts.dead,
    dead: counts.dead,
    lastFailure: counts.lastFailure,
  }));
}
