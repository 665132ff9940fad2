import { Repeated } from '../repeated.ts';
import type { LaneHost } from './lane-host.ts';
import { dropReasons, type DropReason, type LaneStats } from './lane-stats.ts';

/** Jobs of a lane that are lost: each is counted, and of many at once the log has the first and their number. */
export class Drops {
  readonly #name: string;
  readonly #host: LaneHost;
  readonly #stats: LaneStats;
  readonly #repeated: Repeated;

  constructor(name: string, host: LaneHost, stats: LaneStats) {
    this.#name = name;
    this.#host = host;
    this.#stats = stats;
    this.#repeated = new Repeated(host.clock, (count) => {
      host.logger.warn(`defer, sink ${name}: ${count} more jobs were dropped.`);
    });
  }

  report({ id, job }: { readonly id: string; readonly job: string }, reason: DropReason): void {
    this.#stats.dropped[reason]++;
    this.#repeated.tell(() => {
      this.#host.logger.warn(
        `defer, sink ${this.#name}: the job ${id} (${job}) was dropped: ${dropReasons[reason]}.`,
      );
    });
  }
}
