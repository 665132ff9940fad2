import type { Backlogs } from './backlogs.ts';
import type { Gathering } from './gathering.ts';
import type { ResolvedQueue } from './queue-options.ts';
import type { QueueCounts } from './queue-counts.ts';
import type { MemoryBudget } from './memory-budget.ts';
import type { Clock } from '../clock.ts';
import type { Restore } from '../job/async-context.ts';
import type { KeyedJobs } from './keyed-jobs.ts';
import type { PendingJob } from './pending-job.ts';
import type { DeferLogger } from '../logger.ts';
import type { DeferContext, JobSpans } from '../sink.ts';

/** Shared by all parts of a queue. */
export interface SinkQueueCore {
  readonly options: ResolvedQueue;
  readonly host: SinkQueueHost;
  readonly stats: QueueCounts;
  readonly gathering: Gathering;
  readonly budget: MemoryBudget;
  readonly backlogs: Backlogs;
}

/** Receives the reports of a queue about its jobs. */
export interface SinkQueueReports {
  /** The sink has it. `isReplayable`: its server may come back without it, and would report that. */
  delivered(job: PendingJob, isReplayable: boolean): void;
  /** It waits for its next attempt, and memory is short. Returns true if the journal has it. */
  shelve(job: PendingJob): boolean;
  /** It was replaced or cancelled: it was not sent. */
  obsolete(job: PendingJob): void;
  /** It can never succeed. Resolves when it is a dead letter, or could not become one. */
  died(job: PendingJob, error: unknown): Promise<void>;
}

export interface SinkQueueHost {
  readonly clock: Clock;
  readonly logger: DeferLogger;
  readonly random: () => number;
  readonly spans: JobSpans | undefined;
  readonly intake: SinkQueueReports;
  /** Jobs deferred with `onDuplicate`, by key. */
  readonly keyed: KeyedJobs;
  /** Returns the function that runs a job of an exited process. */
  restoreFrom(context: DeferContext | undefined): Restore | undefined;
}
