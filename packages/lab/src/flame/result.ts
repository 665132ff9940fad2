import type { CallsSummary } from '../calls-out/result.ts';
import type { Owner } from '../profile/owner.ts';
import type { ProfiledThread } from '../profile/profiled-thread.ts';
import type { Tier } from '../profile/tiers.ts';
import type { MachineFacts } from '../figures.ts';
import type { RunFacts } from '../report/run-facts.ts';

/** The result of `redline flame`, beside the `.cpuprofile`. Counts are samples. */
export interface FlameResult extends RunFacts {
  schema: 1;
  command: 'flame';
  scenario: string;
  /** One line for the reports, e.g. `Cached Nest API, GET /cached`. */
  title: string;
  variant: string;
  /** Absent for a profile that was read from a file. */
  machine?: MachineFacts;
  /** Version of the profiled Node. Absent for a profile that was read from a file. */
  node?: string;
  load?: FlameLoad;
  /** Absent if no other thread of the server runs JavaScript. */
  profiled?: ProfiledThread;
  /** Source of the samples. */
  sampler: 'inspector' | 'perf' | 'file';
  /** Samples in which something ran. All shares are of these. */
  samples: number;
  idleSamples: number;
  seconds: number;
  /** Share of the frames with JavaScript source whose tier is known, 0 to 1. */
  tierKnown: number;
  /** Seconds of a second profile, which split functions from the regular expressions they run; absent if there was none. */
  regExpSeconds?: number;
  /** Tiers at the time of each sample, or at the start of the profile. Absent without tiers. */
  tiersAt?: 'sample' | 'start';
  /** Samples by the owner of the frame on top. */
  owners: Record<Owner, number>;
  /** Samples by the innermost package on the stack: its own frames, and the work of Node and V8 for it. Most samples first. */
  packages?: { name: string; samples: number }[];
  /** Samples by the tier of the frame on top; `none` stands for no tier, or an unknown one. */
  tiers: Record<Tier | 'none', number>;
  functions: FlameFunction[];
  /** The call tree in pre-order, heaviest child first. Frames below `leastSamples` are left out. */
  tree: FlameNode[];
  leastSamples: number;
  /** Calls of the requests, which wait beside this CPU. Absent if they call nothing that Redline knows, or were not watched. */
  calls?: CallsSummary;
  warnings: string[];
}

export interface FlameLoad {
  generator: string;
  connections: number;
  requests: string[];
  completed: number;
  seconds: number;
  serverBusy: number;
  /** CPU per request of the profiled thread and of those that serve like it. */
  microsPerRequest: number;
}

export interface FlameFunction {
  name: string;
  /** `src/app.ts:12:3`, from the server's folder, through source maps; empty without source. */
  place: string;
  owner: Owner;
  self: number;
  total: number;
  /** Samples of `self` by tier. */
  tiers: Partial<Record<Tier, number>>;
  /** Set if the function itself takes at least 1 % of the samples, most of them in Ignition or Sparkplug. */
  unoptimised?: true;
  /** Set if the line with most of its own time runs a regular expression, which has no frame of its own. */
  runsRegExp?: true;
}

/** `[depth, index in functions, total, self, ignition, sparkplug, maglev, turbofan]`; tiers are of the total. */
export type FlameNode = [number, number, number, number, number, number, number, number];
