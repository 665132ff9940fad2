import type { Clock } from '../clock.ts';
import type { Restore } from '../job/async-context.ts';
import type { KeyedJobs } from './keyed-jobs.ts';
import type { PendingJob } from './pending-job.ts';
import type { DeferLogger } from '../logger.ts';
import type { DeferContext, JobSpans } from '../sink.ts';

/** What a lane says of its jobs. */
export interface LaneReports {
  /** The sink has it. `isReplayable`: its server may come back without it, and would say so. */
  delivered(job: PendingJob, isReplayable: boolean): void;
  /** It waits for its next try, and memory is short: true when the journal has it. */
  shelve(job: PendingJob): boolean;
  /** Another one has its place, or it was cancelled: it was not sent. */
  obsolete(job: PendingJob): void;
  /** It can never be done. Resolves when it lies with the dead letters, or could not be put there. */
  died(job: PendingJob, error: unknown): Promise<void>;
}

export interface LaneHost {
  readonly clock: Clock;
  readonly logger: DeferLogger;
  readonly random: () => number;
  readonly spans: JobSpans | undefined;
  readonly desk: LaneReports;
  /** Jobs whose keys are taken. */
  readonly keyed: KeyedJobs;
  /** How a job of a process that is gone is run. */
  restoreFrom(context: DeferContext | undefined): Restore | undefined;
}
