import type { JobStats, QueueCounts } from './queue-counts.ts';
import type { SinkQueue } from './sink-queue.ts';
import type { Waiting } from './sink-queue-view.ts';

/** Pending work of one sink, and its counts since the process started. */
export interface SinkStats extends Pick<
  QueueCounts,
  'deferred' | 'sent' | 'retried' | 'resent' | 'replayed' | 'dead' | 'spilled' | 'rejected'
> {
  /** Its name in `createDefer({ sinks })`; `after` for closures. */
  readonly name: string;
  readonly kind: string;
  /** Jobs not at the sink yet, including those of running requests. */
  readonly depth: number;
  /** Of these, jobs in memory. */
  readonly loaded: number;
  /** Wall clock of the oldest of them. */
  readonly oldestAtMs: number | undefined;
  /** Jobs that run later, which do not count as waiting. */
  readonly delayed: number;
  /** Wall clock of the next one. */
  readonly nextRunAtMs: number | undefined;
  /** Reason why they wait; undefined if they do not, or their batch is gathering. */
  readonly waiting: Waiting | undefined;
  readonly dropped: QueueCounts['dropped'];
  /** By name: at most 200, the rest as one. */
  readonly jobs: readonly JobStats[];
}

export function sinkStatsOf(queue: SinkQueue): SinkStats {
  const { name, depth, loaded, oldestAtMs, delayed, waiting, jobs, options, stats } = queue;
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

export interface DeferStats {
  readonly sinks: readonly SinkStats[];
  readonly deadLetters: number;
  /** Bytes of the journals of this process; undefined without one. */
  readonly journalBytes: number | undefined;
  /** Jobs whose request could not be determined while requests were open: see `request` of `defer()`. */
  readonly unattributed: number;
  /** Jobs that did not run because the outcome of their request was not their `when`. */
  readonly withdrawn: number;
}
