import type { Comparison, Interval, LoadFacts, MachineFacts, Probe, Verdict } from '../figures.ts';
import type { RunFacts } from '../report/run-facts.ts';
import type { TreeState } from '../trees/tree-state.ts';

/**
 * Judgement of `--fail-if-slower`. `slower`: the whole interval lies beyond the limit, and beyond the farthest reading of the base
 * against itself. `undecided`: it may be beyond, but this run cannot tell. `within`: it is not.
 */
export type LimitVerdict = 'slower' | 'undecided' | 'within';

export interface Limit {
  /** The allowed increase, as a fraction of the base's CPU. */
  share: number;
  /** The farthest distance from 1 of the A/A control's interval. Absent without a control. */
  noise?: number;
  /** Additional CPU compared with the base, as fractions. */
  variants: { name: string; more: Interval; word: LimitVerdict }[];
}

/**
 * The result of a run: the JSON file, and the only source of a report. Every ratio is "better above 1" against the
 * baseline: rps divided by the baseline's, the baseline's CPU divided by the variant's.
 */
export interface BenchResult extends RunFacts {
  schema: 1;
  command: 'ladder' | 'bench';
  /** The config's `name`, e.g. `cached-api`. */
  scenario: string;
  /** One line for people, e.g. `Cached Nest API, GET /cached`. */
  title: string;
  durationSeconds: number;
  /** Name of the variant all others are compared with. It is `variants[0]`. */
  baseline: string;
  /** Name of the variant that shows the minimum cost of a response on this machine. Absent if the config names none. */
  floor?: string;
  machine: MachineFacts;
  load: LoadFacts;
  precision: PrecisionFacts;
  /** The baseline a second time, in its own process (A/A): the difference that the method finds where none exists. */
  control: MeasuredVariant | SkippedVariant;
  /** In the order of the config, skipped ones included. */
  variants: (MeasuredVariant | SkippedVariant)[];
  /** Warnings to read before trusting a figure, one sentence each, worst first. Empty if all guards held. */
  warnings: string[];
  /** Set only with `--fail-if-slower`. */
  limit?: Limit;
  /** Every timed slice, as measured. */
  slices: Slice[];
  /** Set if the run was interrupted: groups are missing, and `--continue` measures them. */
  unfinished?: Unfinished;
  /** Set only for configs with groups: each is a comparison of its own. `baseline`, `control`, bands and `load` are the first's. */
  groups?: GroupFacts[];
}

/** The missing part of an interrupted run, and what a run that goes on with it has to have in common with it. */
export interface Unfinished {
  /** Names of the groups. */
  missing: string[];
  /** The code of the config's folder and of the variants. */
  trees: TreeState[];
  /** Digest of the environment variables that servers inherit. */
  environment: string;
  /** The configuration of each group asked for, as a digest. */
  groups: Record<string, string>;
}

/** Settings and control of one group of variants. */
export interface GroupFacts {
  name: string;
  title: string;
  baseline: string;
  /** As in the result. */
  floor?: string;
  control: MeasuredVariant | SkippedVariant;
  load: LoadFacts;
  precision: PrecisionFacts;
  /** As in `MachineFacts`. Absent in files written before groups had their own. */
  pinning?: string;
  /** Absent in files of older versions. */
  durationSeconds?: number;
  warnings: string[];
}

/** The figures of a variant's probe are added to these, under the names that the server gave them. */
export interface MeasuredVariant {
  name: string;
  /** Configs with groups only. */
  group?: string;
  /** A few words beside the name, e.g. `needs Fastify`, `A/A control`. */
  note?: string;
  /** Ladders only: not a rung, but a variant beside the ladder, to compare the rung before it with. */
  beside?: true;
  /** Completed requests per second, closed loop. Like all absolute figures, the baseline's own times the paired ratio. */
  rps: number;
  rpsRatio: Interval;
  rpsVerdict: Verdict | 'base';
  rpsRestartsToSettle?: number;
  /** User and system time of all threads of the server, per completed request. */
  cpuMicrosPerRequest: number;
  /**
   * Uncertainty of this figure alone, which is larger than that of its ratio to the baseline. Absent in files of older
   * versions.
   */
  cpuMicrosInterval?: Interval;
  /**
   * In addition: CPU of processes that the server started and that exited, per completed request. Absent if there were
   * none.
   */
  endedProcessesMicrosPerRequest?: number;
  /** The part of it on the main thread. Absent if the system does not report threads separately. */
  mainThreadMicrosPerRequest?: number;
  /** CPU as a multiple of the floor's. Absent without a floor, and on the floor itself. */
  floorRatio?: Interval;
  cpuRatio: Interval;
  cpuVerdict: Verdict | 'base';
  cpuRestartsToSettle?: number;
  /** The verdict of record: CPU, the primary metric. */
  verdict: Verdict | 'base';
  /**
   * Ladders only: against the rung below (the previous measured one), or the variant that `over` names in the config. Absent on the
   * baseline and outside ladders.
   */
  step?: { over: string; cpu: Comparison; rps: Comparison };
  /** From the open-loop part, timed from the intended send. */
  latencyMs: {
    p50: number;
    p99: number;
    p99Low: number;
    p99High: number;
    /** The p99 of each restart: `p99` is their median, with its interval. Absent in files of older versions. */
    p99s?: number[];
  };
  /** Resident set at the end of a restart's load, median over restarts. */
  rssMiB: number;
  /**
   * Median share of one core that the server and its child processes used under the closed loop; above 1 on several. Below 0.95 its
   * rps is a lower bound.
   */
  serverBusy: number;
}

export interface SkippedVariant {
  name: string;
  group?: string;
  note?: string;
  beside?: true;
  /** The reason, in one sentence. */
  skipped: string;
}

export interface PrecisionFacts {
  restarts: number;
  blocks: number;
  /** Turns of each server in a block, if the config sets them. */
  passes?: number;
  sliceMs: number;
  warmupMs: number;
  warmupRequests?: number;
  /** Time limit, in minutes; `restarts` is the number that fit into it. */
  minutes?: number;
  latencyMs: number;
  resamples: number;
  seed: number;
  /** `same` is an interval that holds 1 and lies wholly within this of 1, as a fraction. Absent in files of older versions: 2 %. */
  margin?: number;
  /**
   * An estimate is `changed` only beyond this, as a fraction: the margin, or half the width of the A/A control's interval if that
   * is larger.
   */
  cpuBand: number;
  rpsBand: number;
}

export interface Slice {
  restart: number;
  block: number;
  variant: string;
  requests: number;
  seconds: number;
  cpuMicros: number;
  mainThreadMicros?: number;
  /** CPU of processes that ended within the slice, in steps of 10 ms. Absent when there were none. */
  endedMicros?: number;
  /** Time the server's main threads were ready to run without a core. Absent in files of older versions. */
  waitedForCoreMicros?: number;
  probe?: Probe;
  /**
   * With `load.turns`: the same server taking turns with the load on one core; the source of CPU per request. Absent if nothing is
   * pinned or the generator cannot be pinned; then the figures above are the source.
   */
  turns?: Turn[];
  /** Share of its core the load generator used, 0 to 1. */
  generatorBusy?: number;
}

/** 40 ms of load on the server's own core. */
export interface Turn {
  requests: number;
  cpuMicros: number;
  mainThreadMicros?: number;
}

export function isMeasured(variant: MeasuredVariant | SkippedVariant): variant is MeasuredVariant {
  return !('skipped' in variant);
}
