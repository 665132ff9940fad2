import type { Measurement } from '@redline/eslint-plugin';
import type { MachineFacts } from '../figures.ts';
import type { ProvePrecision, TimedBlock } from './measure.ts';
import type { RunFacts } from '../report/run-facts.ts';

/** What `redline prove` leaves behind: its JSON, and the only thing its reports are drawn from. */
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
  /** How the results of the two differ. Absent when they were found equal on all inputs. */
  changesResult?: string;
  runtimes: (ProvenRuntime | SkippedRuntime)[];
}

export interface ProvenRuntime extends Measurement {
  /** Every timed block, as measured. */
  slices: TimedBlock[];
}

export interface SkippedRuntime {
  node: string;
  /** Why, in one sentence. */
  skipped: string;
}

export function isProven(runtime: ProvenRuntime | SkippedRuntime): runtime is ProvenRuntime {
  return !('skipped' in runtime);
}
