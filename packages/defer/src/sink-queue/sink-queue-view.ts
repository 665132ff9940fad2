import type { SinkQueueHost } from './sink-queue-host.ts';
import type { ResolvedQueue } from './queue-options.ts';
import type { Admission } from './admission.ts';
import type { MemoryBudget } from './memory-budget.ts';
import type { Backlogs } from './backlogs.ts';
import type { Delayed } from './delayed.ts';
import type { Gathering } from './gathering.ts';
import { jobStatsOf, type JobStats, type QueueCounts } from './queue-counts.ts';
import type { InFlightBatches } from './in-flight.ts';
import type { Parking } from './disk-reader.ts';
import type { CrashSuspects } from './failure-blame.ts';
import { type Waiting, whyWaiting } from './why-waiting.ts';

export interface SinkQueueViewParts {
  readonly options: ResolvedQueue;
  readonly host: SinkQueueHost;
  readonly stats: QueueCounts;
  readonly admission: Admission;
  readonly gathering: Gathering;
  readonly inFlight: InFlightBatches;
  readonly budget: MemoryBudget;
  readonly backlogs: Backlogs;
  readonly parking: Parking;
  readonly delayed: Delayed;
  readonly suspects: CrashSuspects;
}

/** Reports on the jobs of a queue: how many wait, where, since when and why. */
export class SinkQueueView {
  readonly #parts: SinkQueueViewParts;

  constructor(parts: SinkQueueViewParts) {
    this.#parts = parts;
  }

  get depth(): number {
    const { backlogs, budget, delayed, parking } = this.#parts;
    const { waiting, stuck } = backlogs;
    const { loaded, reserved } = budget;
    return loaded - delayed.inMemory + reserved + parking.length + waiting + stuck;
  }

  get waiting(): Waiting | undefined {
    const { admission, backlogs, gathering, host, inFlight, options, parking, budget, suspects } =
      this.#parts;
    if (this.depth === budget.reserved) return undefined;
    return whyWaiting(host.clock, {
      breaker: inFlight.breaker,
      gathering,
      options,
      batches: inFlight.size,
      isAlone: suspects.isAlone,
      awaitsOrphans: admission.awaitsOrphans,
      parked: parking.retrying,
      stuck: backlogs.stuck,
    });
  }

  get jobs(): JobStats[] {
    const { stats, backlogs, parking, gathering, suspects, inFlight } = this.#parts;
    const { byName } = stats;
    const { waiting, stuck } = backlogs;
    if (waiting + stuck + parking.length === 0) byName.nothingOnDisk();
    return jobStatsOf(byName, [...gathering, ...suspects, ...inFlight.jobs]);
  }

  get oldestAtMs(): number | undefined {
    const { gathering, inFlight, backlogs } = this.#parts;
    let oldest = gathering.oldestAtMs;
    const compare = (atMs: number | undefined): void => {
      if (atMs !== undefined && (oldest === undefined || atMs < oldest)) oldest = atMs;
    };
    for (const job of inFlight.firsts()) compare(job?.waitsSinceMs);
    for (const { oldestAtMs } of backlogs) compare(oldestAtMs);
    return oldest;
  }
}
