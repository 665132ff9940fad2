import { DeferError } from './errors.ts';
import type { JobRecord } from './journal/job-record.ts';
import type { Journaling } from './journaling.ts';
import type { Lane } from './lane/lane.ts';
import type { Restore } from './async-context.ts';
import type { OutboxJob } from './outbox.ts';
import { PendingJob } from './pending-job.ts';
import type { DeferContext } from './sink.ts';

export interface RedeliveryHost {
  /** Undefined without a journal. */
  readonly journaling: Journaling | undefined;
  /** @throws {DeferError} ERR_REDLINE_DEFER_UNKNOWN_SINK, _CLOSED */
  laneFor(name: string): Lane;
  restoreFrom(context: DeferContext | undefined): Restore | undefined;
  deliver(job: PendingJob): void;
}

/** Jobs that were kept elsewhere and come back: the rows of an outbox, and dead letters. */
export class Redelivery {
  readonly #host: RedeliveryHost;

  constructor(host: RedeliveryHost) {
    this.#host = host;
  }

  /** What an outbox's relay calls: resolves when the row is not needed any more. */
  async relay(row: OutboxJob): Promise<void> {
    const job = this.#jobOf({ ...row, attempt: 1 }, 'sink');
    job.isRelayed = true;
    this.#host.deliver(job);
    try {
      await job.acknowledged();
    } catch (error) {
      if (!(error instanceof DeferError) || error.code !== 'ERR_REDLINE_DEFER_DEAD') throw error;
    }
  }

  /** A letter is safe from a power failure, and so must be what it becomes. */
  async requeue(record: JobRecord): Promise<void> {
    const { journaling } = this.#host;
    const job = this.#jobOf(
      { ...record, attempt: 1 },
      journaling === undefined ? 'memory' : 'disk',
    );
    job.redelivered = true;
    if (journaling !== undefined) {
      journaling.add(job);
      await job.acknowledged();
    }
    this.#host.deliver(job);
  }

  #jobOf(record: JobRecord, level: 'memory' | 'disk' | 'sink'): PendingJob {
    const { sink, context } = record;
    const lane = this.#host.laneFor(sink);
    return PendingJob.fromRecord(lane, record, this.#host.restoreFrom(context), level);
  }
}
