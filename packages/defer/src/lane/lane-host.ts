import type { Clock } from '../clock.ts';
import type { DeferLogger } from '../options.ts';
import type { Restore } from '../async-context.ts';
import type { PendingJob } from '../pending-job.ts';
import type { Scope } from '../scope.ts';
import type { DeferContext } from '../sink.ts';

/** What a request does with its jobs. */
export interface JobHome {
  /** The reply claims the job: it must be as safe as its level says before the reply leaves. */
  secure(job: PendingJob, scope: Scope): void;
  /** The request has the outcome the job was meant for. */
  dispatch(job: PendingJob): void;
  /** The request has another outcome. */
  withdraw(job: PendingJob): void;
}

export interface LaneHost {
  /** Of the lane's jobs. */
  readonly home: JobHome;
  readonly clock: Clock;
  readonly logger: DeferLogger;
  readonly random: () => number;
  /** How a job of a process that is gone is run. */
  restoreFrom(context: DeferContext | undefined): Restore | undefined;
  /** Puts the job with the dead letters. Resolves when it lies there. */
  bury(job: PendingJob, error: unknown): Promise<void>;
  /** What a job is when its level could not be reached in the journal: an error, or undefined where that is acceptable. */
  journalFailed(job: PendingJob, error: unknown): unknown;
}
