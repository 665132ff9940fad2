import type { SinkStats } from './sink-queue/sink-stats.ts';

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
