// benchmarks/results/zoo.json: what was seen of each app, and the source of docs/guide/zoo.md.
import type { Interval, TryVerdict } from '@redline/lab';
import type { Difference } from './compare.ts';

export interface ZooResult {
  schema: 1;
  startedAt: string;
  machine: { cpuModel: string; cores: number; kernel: string; node: string };
  apps: AppResult[];
  interrupts?: Interrupts;
}

export interface AppResult {
  name: string;
  package: string;
  version: string;
  what: string;
  /** Requests of a start, WebSockets and tunnels included. */
  asked: number;
  /** Of these, with a status below 400 on Node: an app that refuses everything has shown nothing. */
  succeeded: number;
  /** Responses of which heads alone could be compared: two starts on Node have different bodies. */
  unsteady: number;
  /** `native`, or why Node serves. */
  engine: string;
  /** How it ends on Node, for each signal. */
  exits: string[];
  /** Those that no reason is known for. */
  differences: Difference[];
  /** Those that are known, with the reason. */
  explained: string[];
  /** Why it could not be asked at all. */
  failure?: string;
  tried?: Tried;
}

/** What `redline try` said. */
export interface Tried {
  /** `refused` where it measured nothing. */
  word: TryVerdict | 'refused';
  /** Its last sentence. */
  sentence: string;
  /** The request that it measured. */
  request?: string;
  cpu?: Interval;
  rps?: Interval;
  /** Its `--seconds`. */
  givenSeconds: number;
  /** Without other work on the machine. */
  isQuiet: boolean;
  exit: number | string;
  /** Absent where it ended before it could say how long it takes. */
  announcedSeconds?: number;
  /** From then on. */
  tookSeconds?: number;
  /** All of it. */
  seconds: number;
  /** Processes, ports and files that were there afterwards. */
  left: string[];
}

/** Trials are numbered from 0 on; the seed says when each is interrupted, and how. */
export interface Interrupts {
  planned: number;
  seed: number;
  done: number[];
  /** One line for each trial after which something was there. */
  left: string[];
}
