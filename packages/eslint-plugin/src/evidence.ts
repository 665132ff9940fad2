import { existsSync, readFileSync } from 'node:fs';
import { adviceFolders } from './advice-folders.ts';

/** The measurements of `redline prove` for one rule or myth: the `evidence.json` in its folder. */
export interface Evidence {
  schema: 1;
  rule: string;
  /** Source of the reported code, and of the suggested code. */
  before: string;
  after: string;
  /** Difference between the results, if any. Such a rule only suggests. */
  changesResult?: string;
  /** Oldest runtime first, one for each major version. */
  measurements: Measurement[];
}

/** Result for one runtime. */
export interface Measurement {
  /** Version of Node, e.g. `24.21.0`. */
  node: string;
  v8: string;
  /** `own loop`, or `mitata 1.0.34` in earlier measurements. */
  timer: string;
  /** Time before divided by time after, with its 95 % interval: above 1 the advice pays. */
  ratio: { value: number; low: number; high: number };
  /** Compared with ± 30 %: entirely outside; around 1 and entirely inside; neither. */
  verdict: 'changed' | 'same' | 'unresolved';
  /** Nanoseconds per call, median. */
  beforeNanos: number;
  afterNanos: number;
  restarts: number;
  blocks: number;
  seed: number;
  /** e.g. `AMD EPYC, 2 cores, Linux 6.12.0 x64`. */
  machine: string;
  /** Date, ISO 8601. */
  measuredOn: string;
}

/** Reads all evidence shipped with the package, by rule. */
export function readEvidence(): Map<string, Evidence> {
  const files = [...adviceFolders().values()].map((folder) => new URL('evidence.json', folder));
  const all = files
    // Skips rules that were never proved: their proof has to run first.
    .filter((file) => existsSync(file))
    .map((file) => JSON.parse(readFileSync(file, 'utf8')) as Evidence);
  return new Map(all.map((evidence) => [evidence.rule, evidence]));
}
