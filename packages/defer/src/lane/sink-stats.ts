import type { JobStats } from './job-stats.ts';
import type { Lane } from './lane.ts';
import type { LaneStats } from './lane-stats.ts';
import type { Waiting } from './waiting.ts';

/** What one sink has to do, and what it has done since the process started. */
export interface SinkStats extends Pick<
  LaneStats,
  'deferred' | 'sent' | 'retried' | 'resent' | 'replayed' | 'dead' | 'spilled' | 'rejected'
> {
  /** The name it has in `createDefer({ sinks })`; `after` for closures. */
  readonly name: string;
  readonly kind: string;
  /** Jobs not at the sink yet, those of running requests among them. */
  readonly depth: number;
  /** Of these, jobs in memory. */
  readonly loaded: number;
  /** Wall clock of the oldest of them. */
  readonly oldestAtMs: number | undefined;
  /** Jobs that are to run later, which do not count as waiting. */
  readonly delayed: number;
  /** Wall clock of the next of them. */
  readonly nextRunAtMs: number | undefined;
  /** Why they wait; undefined where they do not, or their batch gathers. */
  readonly waiting: Waiting | undefined;
  readonly dropped: LaneStats['dropped'];
  /** By name: at most 200, the rest as one. */
  readonly jobs: readonly JobStats[];
}

export function sinkStatsOf(lane: Lane): SinkStats {
  const { name, depth, loaded, oldestAtMs, delayed, waiting, jobs, options, stats } = lane;
  const { deferred, sent, retried, resent, replayed, dead, spilled, rejected, dropped } = stats;
  return {
    name,
    kind: options.sink.kind,
    depth,
    loaded,
    oldestAtMs,
    delayed: delayed.jobs,
    nextRunAtMs: delayed.nextRunAtMs,
    waiting,
    deferred,
    sent,
    retried,
    resent,
    replayed,
    dead,
    spilled,
    rejected,
    dropped: { ...dropped },
    jobs,
  };
}
