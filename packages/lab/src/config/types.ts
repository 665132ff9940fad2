/** The default export of `redline.config.ts`, for `redline ladder`, `redline bench` and the other commands. */
export interface RedlineConfig {
  /** Short name, used in file names and as `scenario` in the JSON. */
  name: string;
  /** One line for the reports. @default the name and the first request */
  title?: string;
  /** The variants to compare. On a ladder, their order is that of the rungs, lowest first. */
  variants: VariantConfig[];
  /** Name of the variant the others are compared with. @default the first */
  baseline?: string;
  /**
   * Name of a variant that shows the minimum cost of a response on this machine, e.g. a native loop that reads the request and
   * writes fixed bytes: every other variant's CPU is also reported as a multiple of its CPU. @default none
   */
  floor?: string;
  /**
   * Settings of the groups of variants, by group name. Each group is a separate comparison with its own servers,
   * baseline, A/A control and bands; only set-up and result file are shared.
   */
  groups?: Record<string, GroupConfig>;
  /** Sent in turn to every variant. A string is the path of a GET. @default ['/'] */
  requests?: (string | RequestConfig)[];
  load?: LoadConfig;
  precision?: PrecisionConfig;
  /**
   * Overrides of `precision` for `--quick`, which takes as many of these restarts as fit into three minutes.
   * @default { restarts: 4, blocks: 2 }; { restarts: 4, blocks: 3 } without `load.turns`
   */
  quick?: PrecisionConfig;
  /** Max time until a server responds to the first request, in milliseconds. @default 30_000 */
  readyTimeoutMs?: number;
  /** Runs once before anything starts, to start what the servers need. */
  setup?: () => Promise<SetupResult> | SetupResult;
  /**
   * Runs on every started server before it is timed. Throw to stop the run: a variant that cheats must not be measured.
   */
  verify?: (server: ServerUnderTest) => Promise<void> | void;
}

/** Overrides of the config for the variants of one group. */
export interface GroupConfig {
  title?: string;
  /** @default the config's, if it is in the group; otherwise the group's first variant */
  baseline?: string;
  /** @default the config's, if it is in the group */
  floor?: string;
  requests?: (string | RequestConfig)[];
  load?: LoadConfig;
  precision?: PrecisionConfig;
  quick?: PrecisionConfig;
}

export interface VariantConfig {
  name: string;
  /** Compared only within this group. Either all variants name one or none does. */
  group?: string;
  /** A few words shown beside the name. */
  note?: string;
  /** False for a variant that `--quick` leaves out, unless `--only` names it; a group without a variant is left out, too. */
  quick?: false;
  /** On a ladder: not a rung, but a variant to compare with the rung before it. @default false */
  beside?: boolean;
  /**
   * On a ladder: name of an earlier variant to measure its step against, e.g. the same program on another runtime.
   * @default the rung before it
   */
  over?: string;
  /** Program and arguments. A string is split at white space; there is no shell. The server must listen on `PORT` on 127.0.0.1. */
  command: string | string[];
  /** @default the folder of the config file */
  cwd?: string;
  /** Added to the environment, over `NODE_ENV=production`, `HOST=127.0.0.1` and `PORT`. */
  env?: Record<string, string>;
  /** For servers whose port cannot be set. A baseline with one runs without its A/A control. @default a free one, in `PORT` */
  port?: number;
  /**
   * A path where the server reports its own measurements since the last request to it, as JSON: numbers, or objects of numbers. It
   * is requested after every slice; the medians are added to the variant in the result, under the same names.
   */
  probe?: string;
}

/**
 * In path, headers and body, `{{id}}` and `{{uuid}}` stand for a whole number of 16 digits and a UUID that are new in every
 * request, for requests that succeed only once.
 */
export interface RequestConfig {
  /** @default 'GET' */
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
  /** The part that must equal the baseline's response before anything is timed. @default 'body' */
  compare?: 'body' | 'status';
  /**
   * True if its latency counts. Otherwise it is sent like the others, to show its effect on them.
   * @default true
   */
  timed?: boolean;
}

export interface LoadConfig {
  /** Connections kept busy in the closed loop. @default 64 */
  connections?: number;
  /** Requests per second of the open loop that measures latency. @default half the rate of the slowest variant, at most 8_000 */
  openLoopRps?: number;
  /** Path of an access log, relative to the config: its requests replace `requests`. */
  replay?: string;
  /** With `replay`: speed of the open loop relative to the recording. @default as without `replay` */
  rate?: number;
  /** Requests a connection of the closed loop sends at a time, before it reads the responses. @default 1 */
  pipeline?: number;
  /**
   * Requests that the open loop sends at the same moment, each on its own connection, up to `connections`; its rate
   * does not change. @default 1
   */
  burst?: number;
  /** Keep the server and the load on different cores (Linux). @default true */
  pin?: boolean;
  /**
   * Measure CPU per request in separate slices, in which server and load take turns on one core: takes half a second
   * more for each server and block, but excludes the cost of waking a sleeping load and has a fraction of the noise. It
   * needs Linux, two cores, taskset and wrk.
   * @default true if all of these are available and `pin` is not false
   */
  turns?: boolean;
  /**
   * Make the open loop send within microseconds of the intended time: its sender keeps one core of the load busy, and
   * services that share it may respond later. Otherwise a timer is up to a millisecond late, which is included in all
   * latencies. Needs `pin`.
   * @default false
   */
  exactSends?: boolean;
}

export interface PrecisionConfig {
  /** Fresh starts of every server; the bootstrap's upper level. @default 14; 5 without `load.turns` */
  restarts?: number;
  /** Times each variant is measured between two restarts, in shuffled order; the lower level. @default 3; 10 without `load.turns` */
  blocks?: number;
  /** With `load.turns`: turns of each server in a block. @default 8 */
  passes?: number;
  /** Length of one measurement in milliseconds; of turns it is 40. @default 100; 200 without `load.turns` */
  sliceMs?: number;
  /** Load before the first measurement of a fresh server, in milliseconds. @default 1_000 */
  warmupMs?: number;
  /** A server is warmed up until it has responded to this many, for up to three times `warmupMs` more. @default 0 */
  warmupRequests?: number;
  /** Time for the restarts: as many as fit into it, at least four and at most `restarts`. @default no time limit */
  minutes?: number;
  /** Length of the open-loop latency run per variant and restart, in milliseconds. @default 200; 1_000 without `load.turns` */
  latencyMs?: number;
  /** Margin that counts as `same`, as a fraction of the baseline. @default 0.02 */
  margin?: number;
}

export interface SetupResult {
  /** Added to every variant's environment. */
  env?: Record<string, string>;
  /** Variants that cannot run here, each with the reason in one sentence. */
  skip?: Record<string, string>;
  /** Runs at the end, whatever happens. */
  stop?: () => Promise<void> | void;
}

export interface ServerUnderTest {
  readonly name: string;
  /** e.g. `http://127.0.0.1:40123` */
  readonly url: string;
  /** Returns the standard output of the server since it started. */
  stdout(): Promise<string>;
}
