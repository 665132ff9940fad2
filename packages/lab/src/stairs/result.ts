import type { CallsSummary } from '../calls-out/result.ts';
import type { Interval, MachineFacts, Verdict } from '../figures.ts';
import type { MemoryFigures } from './memory.ts';
import type { CutSlice, StageKind } from './preload/protocol.ts';
import type { RunFacts } from '../report/run-facts.ts';

/** The result of `redline stairs`: the JSON file, and the only source of its report. Times are µs of CPU. */
export interface StairsResult extends RunFacts {
  schema: 1;
  command: 'stairs';
  scenario: string;
  /** One line for display, e.g. `catalog-api, GET /feed`. */
  title: string;
  durationSeconds: number;
  machine: MachineFacts;
  app: {
    name: string;
    command: string[];
    /** Node version of the server, e.g. `v24.21.0`. */
    node: string;
    /** Frameworks whose handlers were made stages, in addition to the app's own functions. */
    frameworks: string[];
  };
  load: { generator: string; threads: number; connections: number; request: string };
  precision: {
    restarts: number;
    /** Rounds of each restart; each holds every cut once. */
    rounds: number;
    /** Uncounted time at the start of a slice: requests in flight then belong to another cut. */
    guardMs: number;
    countedMs: number;
    resamples: number;
    seed: number;
    /** Half-width of the band of no cost, in µs. */
    bandMicros: number;
    /** Cost of ending a request at a cut, in µs: mean, min and max of all cuts. Subtracted from every figure. */
    endingMicros: Interval;
    /** `thread`: the main thread alone. `process`: all threads, if Node cannot measure one. */
    clock: 'thread' | 'process';
  };
  /** In the order of the request. The first is the cost of the request before any code of the app. */
  stages: StageFigures[];
  whole: {
    micros: Interval;
    /** Requests per second of one core, derived from the CPU. */
    rps: Interval;
    /** CPU of all threads. */
    processMicros: number;
    /** The whole request against itself: a real difference is impossible. */
    control: Interval;
    controlVerdict: Verdict;
    memory?: MemoryFigures;
  };
  sumMicros: number;
  /** The whole minus the sum. */
  unattributedMicros: number;
  /** Calls of the request, by stage. Absent if it calls nothing that Redline knows. */
  calls?: CallsSummary;
  whatIf?: WhatIf;
  budget?: BudgetReport;
  /** Stages that could not be cut, each with the reason. */
  leftOut: { name: string; reason: string }[];
  /** Caveats on the figures, one sentence each. */
  warnings: string[];
  /** Every slice as measured. `cut` is the number of the stage at which requests ended; 100000 and 100001 are whole requests. */
  slices: (CutSlice & { restart: number })[];
  /** Likewise those in which memory was counted, after all others. */
  memorySlices?: (CutSlice & { restart: number })[];
}

export interface StageFigures {
  name: string;
  kind: StageKind | 'http' | 'routing';
  /** `src/price.js:41`; empty for a stage without a place in the app. */
  place: string;
  /** Cost from the entry of this stage to the entry of the next. */
  micros: Interval;
  /** Share of the sum of all stages. */
  share: number;
  verdict: Verdict;
  /** Requests per second of one core if the request ended after this stage, derived from the CPU. */
  rpsIfItEnded: Interval;
  /** Stages that were not cut on their own and are part of this one. */
  includes: string[];
  /** Functions of the app entered within it, unless exactly once. */
  calls: { name: string; count: number }[];
  /**
   * Idle time of the event loop between the entry of this stage and the next, in ms: the median of some requests, one after the
   * other. Not part of the CPU.
   */
  waitingMs: Interval;
  /** Absent if too few requests completed to count it. */
  memory?: MemoryFigures;
  /** Number of the cut at its entry; absent for the first. */
  cut: number;
}

export interface WhatIf {
  changes: { stage: string; asked: string; toMicros: number }[];
  micros: Interval;
  rps: Interval;
  rpsRatio: Interval;
}

export interface BudgetReport {
  file: string;
  unit: 'µs' | 'floor';
  rows: BudgetRow[];
  /** True if at least one row is over. */
  failed: boolean;
}

export interface BudgetRow {
  name: string;
  /** Measured cost, in the budget's unit. */
  measured: Interval | undefined;
  limit: number | undefined;
  /**
   * `over`: the whole interval is above the limit. `unresolved`: the limit lies in it. `missing`: in the budget, but not among the
   * stages. `new`: among the stages, but not in the budget.
   */
  status: 'within' | 'over' | 'unresolved' | 'missing' | 'new';
}
