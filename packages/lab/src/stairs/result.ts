import type { Interval, MachineFacts, Verdict } from '../figures.ts';
import type { CutSlice, StageKind } from './preload/protocol.ts';
import type { RunFacts } from '../report/run-facts.ts';

/** What `redline stairs` leaves behind: the JSON file, and the only thing its report is drawn from. Times are µs of CPU. */
export interface StairsResult extends RunFacts {
  schema: 1;
  command: 'stairs';
  scenario: string;
  /** One line for people, e.g. `catalog-api, GET /feed`. */
  title: string;
  durationSeconds: number;
  machine: MachineFacts;
  app: {
    name: string;
    command: string[];
    /** Of the server, e.g. `v24.21.0`. */
    node: string;
    /** Frameworks whose handlers were made stages, beside the app's own functions. */
    frameworks: string[];
  };
  load: { generator: string; threads: number; connections: number; request: string };
  precision: {
    restarts: number;
    /** Of every restart: each holds every cut once. */
    rounds: number;
    /** At the start of a slice, not counted: what was under way then was under another cut. */
    guardMs: number;
    countedMs: number;
    resamples: number;
    seed: number;
    /** Half-width of the band of no cost, in µs. */
    bandMicros: number;
    /** What leaving a request costs at a cut, in µs: the mean of all cuts, the least and the most. Taken off every figure. */
    endingMicros: Interval;
    /** `thread`: the main thread alone. `process`: all threads, where Node cannot tell. */
    clock: 'thread' | 'process';
  };
  /** In the order of the request. The first is what the request costs before anything of the app. */
  stages: StageFigures[];
  whole: {
    micros: Interval;
    /** One core's worth, derived from the CPU. */
    rps: Interval;
    /** Of all threads. */
    processMicros: number;
    /** The whole request against itself: a difference that cannot be there. */
    control: Interval;
    controlVerdict: Verdict;
  };
  sumMicros: number;
  /** The whole minus the sum. */
  unattributedMicros: number;
  whatIf?: WhatIf;
  budget?: BudgetReport;
  /** Stages that could not be cut, each with the reason. */
  leftOut: { name: string; reason: string }[];
  /** What a reader must know before believing a figure, one sentence each. */
  warnings: string[];
  /** Every slice as measured. `cut` is the number of the stage requests ended at; 100000 and 100001 are whole ones. */
  slices: (CutSlice & { restart: number })[];
}

export interface StageFigures {
  name: string;
  kind: StageKind | 'http' | 'routing';
  /** `src/price.js:41`; empty for what has no place in the app. */
  place: string;
  /** From the entry of this stage to the entry of the next. */
  micros: Interval;
  /** Of the sum of all stages. */
  share: number;
  verdict: Verdict;
  /** Requests per second of one core if the request ended behind this stage, derived from the CPU. */
  rpsIfItEnded: Interval;
  /** Stages that were not cut on their own, and are part of this one. */
  includes: string[];
  /** Functions of the app entered within it, other than once. */
  calls: { name: string; count: number }[];
  /**
   * How long the event loop had nothing to do between the entry of this stage and the next, in ms: the median of some
   * requests, one after the other. No part of the CPU.
   */
  waitingMs: Interval;
  /** Cut at its entry: absent for the first. */
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
  /** At least one row is over. */
  failed: boolean;
}

export interface BudgetRow {
  name: string;
  /** In the budget's unit. */
  measured: Interval | undefined;
  limit: number | undefined;
  /**
   * `over`: the whole interval is above the limit. `unresolved`: the limit lies in it. `missing`: in the budget, and
   * not among the stages. `new`: the other way round.
   */
  status: 'within' | 'over' | 'unresolved' | 'missing' | 'new';
}
