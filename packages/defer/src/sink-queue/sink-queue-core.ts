import type { Backlogs } from './backlogs.ts';
import type { Gathering } from './gathering.ts';
import type { SinkQueueHost } from './sink-queue-host.ts';
import type { ResolvedQueue } from './queue-options.ts';
import type { QueueCounts } from './queue-counts.ts';
import type { MemoryBudget } from './memory-budget.ts';

/** Shared by all parts of a queue. */
export interface SinkQueueCore {
  readonly options: ResolvedQueue;
  readonly host: SinkQueueHost;
  readonly stats: QueueCounts;
  readonly gathering: Gathering;
  readonly budget: MemoryBudget;
  readonly backlogs: Backlogs;
}
