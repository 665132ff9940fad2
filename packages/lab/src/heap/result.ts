import type { Interval, MachineFacts } from '../figures.ts';
import type { RunFacts } from '../report/run-facts.ts';

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

/** Memory of a process, in bytes. */
export interface Memory {
  /** JavaScript objects. */
  heapUsed: number;
  /** Memory that objects hold outside of the heap, array buffers included. */
  external: number;
  arrayBuffers: number;
  rss: number;
}

/** Memory after a number of requests, with all garbage collected. */
export interface Reading extends Memory {
  /** Requests since the first reading. */
  requests: number;
}

export interface Growth {
  /** Bytes per 1,000 requests, of heap and external memory. */
  held: Interval;
  heap: Interval;
  external: Interval;
  rss: Interval;
  /** Growth of the later half of the rounds alone. */
  late: Interval;
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

/** One step of the path from the roots: the name of a variable, property or list, and the object it leads to. */
export interface Step {
  /** Empty if the name is internal to V8; `[]` for any element. */
  label: string;
  /** Class, or name of a function with `()`. */
  name: string;
  /** Further repetitions of the step, as in a linked list. */
  times?: number;
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
