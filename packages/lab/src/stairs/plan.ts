import type { RequestCalls } from '../calls-out/preload/protocol.ts';
import type { LoadGenerator } from '../load/closed-loop.ts';
import type { MachineFacts } from '../figures.ts';
import type { Pinning } from '../system/pinning.ts';
import type { CutSlice, WaitingMark } from './preload/protocol.ts';
import type { CommonPath } from './common-path.ts';
import type { StairsTarget } from './target.ts';

export interface StairsPlan {
  target: StairsTarget;
  /** Measuring time over all restarts; starts and warm-up are extra. */
  seconds: number;
  warmupSeconds: number;
  restarts: number;
  /** Max number of stages; above it the cheapest are measured together with their neighbours. */
  maxStages: number;
  /** Names of stages that are not cut. */
  skip: readonly string[];
  seed: number;
}

export interface StairsListener {
  phase(text: string): void;
  /** Called when the stages are known and nothing is measured yet: options that refer to other stages can be refused. */
  traced?(stages: readonly string[]): void;
  /** Called after each round, with the number of rounds in all restarts. */
  round(done: number, of: number): void;
}

export interface StairsObservations {
  commonPath: CommonPath;
  frameworks: string[];
  unreadable: string[];
  /** Stages that were cut, in the order of the request, as indexes into `commonPath.stages`. */
  cuts: number[];
  leftOut: { name: string; reason: string }[];
  /** Slices of each restart. */
  restarts: CutSlice[][];
  /** Slices in which the ending of requests at each cut was timed. */
  endings: CutSlice[];
  /** Slices of each restart in which memory was counted. */
  memory: CutSlice[][];
  /** Marks and calls of some whole requests, one after the other. */
  marks: WaitingMark[][];
  requests: RequestCalls[];
  rounds: number;
  guardMs: number;
  countedMs: number;
  node: string;
  hasThreadClock: boolean;
  generator: LoadGenerator;
  machine: MachineFacts;
  /** Share of the measuring time that was repeated because something outside slowed the server's core down. */
  disturbedShare: number;
}

/** Settings shared by all starts of the app. */
export interface Context {
  env: Record<string, string>;
  pinning: Pinning;
  signal: AbortSignal;
}
