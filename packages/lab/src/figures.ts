/** Figures that a server measured of itself, flat or grouped in objects. */
export type Probe = Record<string, number | Record<string, number>>;

/** 95 % interval around an estimate. */
export interface Interval {
  value: number;
  low: number;
  high: number;
}

export type Verdict = 'changed' | 'same' | 'unresolved';

export interface Comparison {
  ratio: Interval;
  verdict: Verdict;
  /** Set only when unresolved: the number of restarts that settles it in nine of ten runs, if the spread stays the same. */
  restartsToSettle?: number;
}

export interface MachineFacts {
  cpuModel: string;
  cores: number;
  memoryGiB: number;
  /** `uname`-like, e.g. `Linux 6.12.0 x64`. */
  kernel: string;
  node: string;
  v8: string;
  /** cpufreq governor, or `not visible`. */
  governor: string;
  /** e.g. `KVM`, `none`, `not visible`. */
  virtualisation: string;
  /** Share of time the hypervisor took during the run, 0 to 1; undefined if the system does not report it. */
  steal?: number;
  /** e.g. `server on core 1, load on core 0`, or `none`. */
  pinning: string;
}

export interface LoadFacts {
  /** e.g. `wrk 4.1.0`. */
  generator: string;
  threads: number;
  connections: number;
  /** e.g. `GET /cached`. */
  requests: string[];
  /** Requests per second of the open-loop part, the same for every variant. */
  openLoopRps: number;
}
