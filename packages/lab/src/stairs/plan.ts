import type { LoadGenerator } from '../load/generator.ts';
import type { MachineFacts } from '../figures.ts';
import type { Pinning } from '../system/pinning.ts';
import type { CutSlice, WaitingMark } from './preload/protocol.ts';
import type { Spine } from './spine.ts';
import type { StairsTarget } from './target.ts';

export interface StairsPlan {
  target: StairsTarget;
  /** Of measuring, over all restarts; starts and warm-up come on top. */
  seconds: number;
  warmupSeconds: number;
  restarts: number;
  /** More stages than this are measured together with their neighbours, the cheapest first. */
  mostStages: number;
  /** Names of stages that are not cut. */
  skip: readonly string[];
  seed: number;
}

export interface StairsListener {
  phase(text: string): void;
  /** The stages are known, and nothing is measured yet: what is asked of another can be refused. */
  traced?(stages: readonly string[]): void;
  /** A round was measured, of so many in all restarts. */
  round(done: number, of: number): void;
}

export interface StairsObservations {
  spine: Spine;
  frameworks: string[];
  unreadable: string[];
  /** Those that were cut, in the order of the request; their index is in `spine.stages`. */
  cuts: number[];
  leftOut: { name: string; reason: string }[];
  /** Slices of each restart. */
  restarts: CutSlice[][];
  /** Slices in which it was timed how requests leave each cut. */
  endings: CutSlice[];
  /** Of some whole requests, one after the other. */
  waiting: WaitingMark[][];
  rounds: number;
  guardMs: number;
  countedMs: number;
  node: string;
  hasThreadClock: boolean;
  generator: LoadGenerator;
  machine: MachineFacts;
  /** Of the measuring time, what was measured again because something outside slowed the server's core down. */
  disturbedShare: number;
}

/** What every start of the app needs. */
export interface Context {
  env: Record<string, string>;
  pinning: Pinning;
  signal: AbortSignal;
}
