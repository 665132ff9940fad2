/** A file `redline.config.ts` that default-exports one of these drives `redline ladder` and `redline bench`. */
export interface RedlineConfig {
  /** Short name, used in file names and as `scenario` in the JSON. */
  name: string;
  /** One line for people. @default the name and the first request */
  title?: string;
  /** What is compared. On a ladder the order is the order of the rungs, lowest first. */
  variants: VariantConfig[];
  /** Name of the variant the others are compared with. @default the first */
  baseline?: string;
  /**
   * What differs between the groups of variants, by the group's name. Each group is a comparison of its own: servers,
   * baseline, A/A control and bands; only set-up and result file are shared.
   */
  groups?: Record<string, GroupConfig>;
  /** Sent in turn to every variant. A string is the path of a GET. @default ['/'] */
  requests?: (string | RequestConfig)[];
  load?: LoadConfig;
  precision?: PrecisionConfig;
  /** What `--quick` changes in `precision`. @default { restarts: 4, blocks: 2 }; { restarts: 4, blocks: 3 } without `load.turns` */
  quick?: PrecisionConfig;
  /** How long a server may take until it answers the first request. @default 30_000 */
  readyTimeoutMs?: number;
  /** Runs once before anything starts: brings up what the servers need. */
  setup?: () => Promise<SetupResult> | SetupResult;
  /** Runs on every started server before it is timed. Throw to stop the run: a variant that cheats must not be measured. */
  verify?: (server: ServerUnderTest) => Promise<void> | void;
}

/** Laid over the config for the variants of one group. */
export interface GroupConfig {
  title?: string;
  /** @default the config's, if it is in the group; otherwise the group's first variant */
  baseline?: string;
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
  /** On a ladder: not a rung of it, but something to compare the rung before it with. @default false */
  beside?: boolean;
  /** Program and arguments. A string is split at white space; there is no shell. The server must listen on `PORT` on 127.0.0.1. */
  command: string | string[];
  /** @default the folder of the config file */
  cwd?: string;
  /** Added to the environment, over `NODE_ENV=production`, `HOST=127.0.0.1` and `PORT`. */
  env?: Record<string, string>;
  /** For servers whose port cannot be set. A baseline with one runs without its A/A control. @default a free one, in `PORT` */
  port?: number;
  /**
   * A path where the server tells, as JSON, what it has measured of itself since it was last asked: figures, or objects
   * of figures. It is asked after every slice; the medians join the variant in the result, under the same names.
   */
  probe?: string;
}

export interface RequestConfig {
  /** @default 'GET' */
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
  /** What must equal the baseline's answer before anything is timed. @default 'body' */
  compare?: 'body' | 'status';
  /**
   * Whether its latency counts. One that does not is sent like the others, and shows what it does to theirs.
   * @default true
   */
  timed?: boolean;
}

export interface LoadConfig {
  /** Connections kept busy in the closed loop. @default 64 */
  connections?: number;
  /** Requests per second of the open loop that measures latency. @default half of what the slowest variant serves, at most 8_000 */
  openLoopRps?: number;
  /** An access log, from the config's folder: its requests take the place of `requests`. */
  replay?: string;
  /** With `replay`: the open loop sends this many times as fast as it was recorded. @default as without `replay` */
  rate?: number;
  /** Requests a connection of the closed loop sends at a time, before it reads the responses (wrk, autocannon). @default 1 */
  pipeline?: number;
  /**
   * Requests the open loop sends at the same moment, each on a connection of its own as far as there are `connections`;
   * its rate stays what it is. @default 1
   */
  burst?: number;
  /** Keep the server and the load on different cores (Linux). @default true */
  pin?: boolean;
  /**
   * Read CPU per request from slices of their own, in which server and load take turns on one core: half a second
   * more for each server and block, no cost of waking a load that sleeps, and a fraction of the noise. It takes Linux, two
   * cores, taskset and wrk.
   * @default true where all of these are there and `pin` is not false
   */
  turns?: boolean;
  /**
   * Have the open loop send within microseconds of when it is meant to: its sender keeps a core of the load busy, and
   * services that share it may answer later. Otherwise a timer is up to a millisecond late, and that is in the latency of
   * all. Needs `pin`.
   * @default false
   */
  exactSends?: boolean;
}

export interface PrecisionConfig {
  /** Fresh starts of every server; the bootstrap's upper level. @default 14; 5 without `load.turns` */
  restarts?: number;
  /** Times each variant is measured between two restarts, in shuffled order; the lower level. @default 3; 10 without `load.turns` */
  blocks?: number;
  /** Length of one measurement in milliseconds; of turns it is 40. @default 100; 200 without `load.turns` */
  sliceMs?: number;
  /** Load before the first measurement of a fresh server, in milliseconds. @default 1_000 */
  warmupMs?: number;
  /** Length of the open-loop latency run per variant and restart, in milliseconds. @default 200; 1_000 without `load.turns` */
  latencyMs?: number;
  /** What `same` is within, as a fraction of the baseline. @default 0.02 */
  margin?: number;
}

export interface SetupResult {
  /** Added to every variant's environment. */
  env?: Record<string, string>;
  /** Variants that cannot run here, each with the reason in one sentence. */
  skip?: Record<string, string>;
  /** Runs at the end, whatever happened. */
  stop?: () => Promise<void> | void;
}

export interface ServerUnderTest {
  readonly name: string;
  /** e.g. `http://127.0.0.1:40123` */
  readonly url: string;
  /** What the server has written to standard output since it started. */
  stdout(): Promise<string>;
}
