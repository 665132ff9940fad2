import type { BenchResult } from '../bench/result.ts';
import type { CallsSummary } from '../calls-out/result.ts';
import type { Interval } from '../figures.ts';
import type { ProfiledThread } from '../profile/profiled-thread.ts';
import type { TryVerdict } from '../try/result.ts';
import type { RunFacts } from '../report/run-facts.ts';

/** Confidence of a finding: proved by the code, most likely, or worth a look. */
export type Sure = 'certain' | 'likely' | 'hint';

/** Current cost of a finding, from the profile of this app. */
export interface Cost {
  /** Time of the main thread per request, including everything it calls and any synchronous waiting. */
  microsPerRequest: number;
  /** Share of the samples in which the thread was busy. */
  share: number;
}

/** Gain of a change, measured against the app without it; `fails` if it could not be measured. */
export interface Proof {
  word: TryVerdict | 'fails';
  /** CPU per request without it divided by with it: above 1 is better. */
  cpu?: Interval;
  /** Requests per second with it divided by without. */
  rps?: Interval;
  /** Set if a response waits for most of its time: how long it takes under this load, in milliseconds. */
  responseMs?: { before: number; after: number };
  /** Reason for the failure. */
  why?: string;
}

/** Calls that the requests were seen to wait for, sent one after the other. */
export interface Waits {
  /** Time of a request in which they are open and the event loop is idle, in milliseconds. */
  ms: number;
  /** CPU of the thread while they are open. */
  cpuMs: number;
  /** Share of the time of a request. */
  share: number;
  /** Number of calls of a request. */
  calls: number;
  /** Without literals. */
  statement: string;
  /** Its plan. Set with `--database`. */
  explained?: string;
}

export interface Finding {
  rule: string;
  title: string;
  /** Path relative to the app's folder. */
  file: string;
  /** Counted from 1. */
  line: number;
  column: number;
  /** Text of the line. */
  excerpt: string;
  sure: Sure;
  why: string;
  how: string;
  /** A unified diff; empty if the change cannot be written as one. */
  diff: string;
  /** Absent if it was not measured, or was never sampled. */
  cost?: Cost;
  /** Absent if it is no finding of calls, or they were not seen. */
  waits?: Waits;
  /** True if the requests of the measurement ran through it. Absent if nothing was measured, or no profile can show it. */
  isOnMeasuredPath?: boolean;
  /** Set with `--prove`, for findings with a diff. */
  proof?: Proof;
}

/** Results of a short load on the app. */
export interface Measured {
  /** e.g. `GET /feed` */
  request: string;
  requestFrom: string;
  requests: number;
  seconds: number;
  /** CPU of all processes of the app per request. */
  microsPerRequest: number;
  /** Busy time per request of the profiled thread and of those that serve like it: the base of all shares. */
  threadMicrosPerRequest: number;
  /** Absent if no other thread of the app runs JavaScript. */
  profiled?: ProfiledThread;
  /** Longest time that the event loop was blocked, and the 99th percentile, in milliseconds. */
  blockedMs: { longest: number; p99: number };
  /** Size of a response as sent, in bytes. */
  responseBytes: number;
  samples: number;
  node: string;
  /** Calls of the requests. Absent if they call nothing that Redline knows. */
  calls?: CallsSummary;
  /**
   * Parts of the request, besides the URL, on which the responses of each cached route depend, as far as the requests showed it:
   * `the header tenant-id`, `the address of the client`. Absent if @redline/response-cache is not loaded.
   */
  cachedRoutes?: readonly { route: string; reads: readonly string[] }[];
}

/** The result of `redline doctor`: the JSON file, and the only source of a report. */
export interface DoctorResult extends RunFacts {
  schema: 1;
  command: 'doctor';
  title: string;
  durationSeconds: number;
  app: {
    /** From the running server, or from the imports of the code, e.g. `Nest on Express`. */
    framework?: string;
    /** Number of source files that were read. */
    files: number;
    /** Entry file of the command, if known: only its imports were then read. */
    entry?: string;
    /** The command that started it, including settings and `--cwd`, in shell syntax. */
    started?: string;
  };
  /** Absent without a command: only the code was then examined. */
  measured?: Measured;
  /** The most expensive first; findings not sampled under the load last. */
  findings: Finding[];
  /** Set with `--prove`: the changes that gained, made together; `imports` are those that the command makes. */
  together?: Proof & { changes: number; areFixed: boolean; imports?: string[] };
  /** Set with `--prove` if several changes gained: each on top of the previous ones. Without its slices. */
  ladder?: BenchResult;
  warnings: string[];
}
