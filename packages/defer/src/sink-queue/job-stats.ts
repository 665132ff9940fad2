import type { JobCounts, JobCountsByName, JobFailure } from '../job/job-counts.ts';
import type { PendingJob } from './pending-job.ts';

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
