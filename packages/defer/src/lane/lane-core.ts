import type { Backlogs } from './backlogs.ts';
import type { Gathering } from './gathering.ts';
import type { LaneHost } from './lane-host.ts';
import type { ResolvedLane } from './lane-options.ts';
import type { LaneStats } from './lane-stats.ts';
import type { Room } from './room.ts';

/** What every part of a lane works with. */
export interface LaneCore {
  readonly options: ResolvedLane;
  readonly host: LaneHost;
  readonly stats: LaneStats;
  readonly gathering: Gathering;
  readonly room: Room;
  readonly backlogs: Backlogs;
}
