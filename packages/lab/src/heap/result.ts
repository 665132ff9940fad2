import type { Interval, MachineFacts } from '../figures.ts';
import type { RunFacts } from '../report/run-facts.ts';
import type { Growth, Reading } from './growth.ts';
import type { Step } from './sites/retaining-path.ts';

/** The result of `redline heap`. Memory is in bytes, growth in bytes per 1,000 requests. */
export interface HeapResult extends RunFacts {
  schema: 1;
  command: 'heap';
  /** Used in file names. */
  scenario: string;
  title: string;
  variant: string;
  machine: MachineFacts;
  node: string;
  load: HeapLoad;
  /** Memory after full collections: before the rounds, then after each. */
  readings: Reading[];
  growth: Growth;
  verdict: HeapVerdict;
  /** Growth below this is not reported. */
  leastGrowth: number;
  /** Lines that keep objects, the most bytes first; empty without growth. */
  sites: HeapSite[];
  /** Share of the growth that was found in objects, 0 to 1 or a little above; absent without growth. */
  explained?: number;
  cost: HeapCost;
  warnings: string[];
}

/**
 * `grows`: all of the interval is above `leastGrowth`, in the later rounds too, and objects that stay were found. `steady`: growth
 * beyond the interval is excluded.
 */
export type HeapVerdict = 'grows' | 'steady';

export interface HeapLoad {
  connections: number;
  requests: string[];
  requestsPerRound: number;
  /** Requests before the first reading. */
  discarded: number;
  /** Requests of each round with recorded allocations; absent without such rounds. */
  recorded?: number;
}

/** Times the process stood still, and the size of the snapshot. */
export interface HeapCost {
  /** The longest full collection. */
  collectionMs: number;
  snapshotMs?: number;
  snapshotBytes?: number;
}

/** One place that keeps objects. */
export interface HeapSite {
  /** `app.js:12:5`, through source maps; empty if no code of the app is involved. */
  place: string;
  /** The line itself. */
  line: string;
  how: 'adds' | 'function' | 'calls' | 'allocates' | 'unknown';
  functionName: string;
  /** Per 1,000 requests, while allocations were recorded. */
  bytes: number;
  /** Objects per request. */
  kinds: { name: string; count: number }[];
  /** From the roots to the objects that stay. */
  path: Step[];
  /** Calls that led to the allocation, innermost first. */
  stack: { name: string; place: string }[];
}

/** Returns the bound beyond which growth or shrinkage is excluded. */
export function within({ low, high }: Interval): number {
  return Math.max(Math.abs(low), Math.abs(high));
}
