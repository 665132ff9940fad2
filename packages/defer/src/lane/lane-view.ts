import type { LaneHost } from './lane-host.ts';
import type { ResolvedLane } from './lane-options.ts';
import type { Admission } from './admission.ts';
import type { Backlogs } from './backlogs.ts';
import type { Delayed } from './delayed.ts';
import type { Gathering } from './gathering.ts';
import { jobStatsOf, type JobStats } from './job-stats.ts';
import type { LaneStats } from './lane-stats.ts';
import type { OnTheirWay } from './on-their-way.ts';
import type { Parking } from './parking.ts';
import type { Room } from './room.ts';
import type { Suspects } from './suspects.ts';
import type { Waiting } from './waiting.ts';
import { whyWaiting } from './why-waiting.ts';

export interface LaneViewParts {
  readonly options: ResolvedLane;
  readonly host: LaneHost;
  readonly stats: LaneStats;
  readonly admission: Admission;
  readonly gathering: Gathering;
  readonly onTheirWay: OnTheirWay;
  readonly room: Room;
  readonly backlogs: Backlogs;
  readonly parking: Parking;
  readonly delayed: Delayed;
  readonly suspects: Suspects;
}

/** What a lane says of its jobs when somebody asks: how many wait, where, since when and why. */
export class LaneView {
  readonly #parts: LaneViewParts;

  constructor(parts: LaneViewParts) {
    this.#parts = parts;
  }

  get depth(): number {
    const { backlogs, room, delayed, parking } = this.#parts;
    const { waiting, stuck } = backlogs;
    const { loaded, reserved } = room;
    return loaded - delayed.inMemory + reserved + parking.length + waiting + stuck;
  }

  get waiting(): Waiting | undefined {
    const { admission, backlogs, gathering, host, onTheirWay, options, parking, room, suspects } =
      this.#parts;
    if (this.depth === room.reserved) return undefined;
    return whyWaiting(host.clock, {
      breaker: onTheirWay.breaker,
      gathering,
      options,
      batches: onTheirWay.size,
      isAlone: suspects.isAlone,
      awaitsOrphans: admission.awaitsOrphans,
      parked: parking.retrying,
      stuck: backlogs.stuck,
    });
  }

  get jobs(): JobStats[] {
    const { stats, backlogs, parking, gathering, suspects, onTheirWay } = this.#parts;
    const { byName } = stats;
    const { waiting, stuck } = backlogs;
    if (waiting + stuck + parking.length === 0) byName.nothingOnDisk();
    return jobStatsOf(byName, [...gathering, ...suspects, ...onTheirWay.jobs]);
  }

  get oldestAtMs(): number | undefined {
    const { gathering, onTheirWay, backlogs } = this.#parts;
    let oldest = gathering.oldestAtMs;
    const compare = (atMs: number | undefined): void => {
      if (atMs !== undefined && (oldest === undefined || atMs < oldest)) oldest = atMs;
    };
    for (const job of onTheirWay.firsts()) compare(job?.waitsSinceMs);
    for (const { oldestAtMs } of backlogs) compare(oldestAtMs);
    return oldest;
  }
}
