import type { Measurement } from '@redline/eslint-plugin';
import type { MachineFacts } from '../figures.ts';
import type { ProvePrecision, TimedBlock } from './measure.ts';
import type { RunFacts } from '../report/run-facts.ts';

/** The result of `redline prove`: its JSON, and the only input of its reports. */
export interface ProveResult extends RunFacts {
  schema: 1;
  command: 'prove';
  durationSeconds: number;
  machine: MachineFacts;
  /** `leastGain`: half-width of the band of no difference, as a fraction. */
  precision: ProvePrecision & { resamples: number; leastGain: number };
  rules: ProvenRule[];
}

export interface ProvenRule {
  rule: string;
  before: string;
  after: string;
  /** Difference between the two results. Absent if they were found equal on all inputs. */
  changesResult?: string;
  runtimes: (ProvenRuntime | SkippedRuntime)[];
}

export interface ProvenRuntime extends Measurement {
  /** Every timed block, as measured. */
  slices: TimedBlock[];
}

export interface SkippedRuntime {
  node: string;
  /** The reason, in one sentence. */
  skipped: string;
}

export function isProven(runtime: ProvenRuntime | SkippedRuntime): runtime is ProvenRuntime {
  return !('skipped' in runtime);
}
