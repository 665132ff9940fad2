import type { BenchResult } from '../bench/result.ts';
import type { Interval } from '../figures.ts';
import type { TryWord } from '../try/result.ts';
import type { RunFacts } from '../report/run-facts.ts';

/** How sure a finding is: the code says so, it most likely is so, or it is worth a look. */
export type Sure = 'certain' | 'likely' | 'hint';

/** What a finding costs now, as the profile of this app shows it. */
export interface Cost {
  /** Of the main thread per request, what it calls included; while it waits for something synchronous, that too. */
  microsPerRequest: number;
  /** Share of the samples in which the thread was busy. */
  share: number;
}

/** What a change gained, measured beside the app without it; `fails` where it could not be. */
export interface Proof {
  word: TryWord | 'fails';
  /** CPU per request without it divided by with it: above 1 is better. */
  cpu?: Interval;
  /** Requests per second with it divided by without. */
  rps?: Interval;
  /** Why it fails. */
  why?: string;
}

export interface Finding {
  rule: string;
  title: string;
  /** From the app's folder. */
  file: string;
  /** From 1. */
  line: number;
  column: number;
  /** The line it is on. */
  excerpt: string;
  sure: Sure;
  why: string;
  how: string;
  /** A unified diff; empty where the change is not one that can be written down here. */
  diff: string;
  /** Absent where it was not measured, or nothing of it was seen. */
  cost?: Cost;
  /** Whether the requests of the measurement ran through it. Absent where nothing was measured, or no profile can show it. */
  isOnMeasuredPath?: boolean;
  /** Only with `--prove`, for findings with a diff. */
  proof?: Proof;
}

/** What a short load said of the app. */
export interface Measured {
  /** e.g. `GET /feed` */
  request: string;
  requestFrom: string;
  requests: number;
  seconds: number;
  /** CPU of the process per request. */
  microsPerRequest: number;
  /** The longest time the event loop was not free, and the 99th percentile, in milliseconds. */
  blockedMs: { longest: number; p99: number };
  /** Bytes of a response, as it was sent. */
  responseBytes: number;
  samples: number;
  node: string;
  /**
   * What the responses of each cached route depend on beside the URL, as far as the requests showed it: `the header tenant-id`,
   * `the address of the client`. Absent where @redline/response-cache is not loaded.
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
    /** As package.json has it, e.g. `Nest on Express`. */
    framework?: string;
    /** Files of code that were read. */
    files: number;
    /** Where the command starts, if it is known: then only what that imports was read. */
    entry?: string;
    /** The command that started it, settings and `--cwd` included, as a shell takes it. */
    started?: string;
  };
  /** Absent without a command: then only the code was looked at. */
  measured?: Measured;
  /** The most expensive first; what was not seen under the load last. */
  findings: Finding[];
  /** Only with `--prove`: the changes that gained, made together; `imports` are those that the command makes. */
  together?: Proof & { changes: number; areFixed: boolean; imports?: string[] };
  /** Only with `--prove`, where several changes gained: each on top of those before it. Without its slices. */
  ladder?: BenchResult;
  warnings: string[];
}
