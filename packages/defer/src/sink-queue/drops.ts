import { LogThrottle } from '../log-throttle.ts';
import type { SinkQueueHost } from './sink-queue-host.ts';
import { dropReasons, type DropReason, type QueueCounts } from './queue-counts.ts';

/** Reports lost jobs of a queue: each is counted; of many at once, the log has the first and their number. */
export class Drops {
  readonly #name: string;
  readonly #host: SinkQueueHost;
  readonly #stats: QueueCounts;
  readonly #throttle: LogThrottle;

  constructor(name: string, host: SinkQueueHost, stats: QueueCounts) {
    this.#name = name;
    this.#host = host;
    this.#stats = stats;
    this.#throttle = new LogThrottle(host.clock, (count) => {
      host.logger.warn(`defer, sink ${name}: ${count} more jobs were dropped.`);
    });
  }

  report({ id, job }: { readonly id: string; readonly job: string }, reason: DropReason): void {
    this.#stats.dropped[reason]++;
    this.#throttle.log(() => {
      this.#host.logger.warn(
        `defer, sink ${this.#name}: the job ${id} (${job}) was dropped: ${dropReasons[reason]}.`,
      );
    });
  }
}
