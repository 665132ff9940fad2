import type { Owner } from '../profile/owner.ts';
import type { Tier } from '../profile/tiers.ts';
import type { MachineFacts } from '../figures.ts';
import type { RunFacts } from '../report/run-facts.ts';

/** What `redline flame` leaves behind beside the `.cpuprofile`. Counts are samples. */
export interface FlameResult extends RunFacts {
  schema: 1;
  command: 'flame';
  scenario: string;
  /** For people, e.g. `Cached Nest API, GET /cached`. */
  title: string;
  variant: string;
  /** Absent for a profile that was read from a file. */
  machine?: MachineFacts;
  /** Version of the Node that was profiled. Absent for a profile that was read from a file. */
  node?: string;
  load?: FlameLoad;
  /** How the samples were taken. */
  sampler: 'inspector' | 'perf' | 'file';
  /** Samples while something ran. All shares are of these. */
  samples: number;
  idleSamples: number;
  seconds: number;
  /** Share of the frames with JavaScript source whose tier is known, 0 to 1. */
  tierKnown: number;
  /** Tiers are those at the time of each sample, or those as the profile began. Absent where there are none. */
  tiersAt?: 'sample' | 'start';
  /** Samples by the owner of the frame on top. */
  owners: Record<Owner, number>;
  /** Samples by the innermost package on the stack: its own frames, and what Node and V8 do for it. Most first. */
  packages?: { name: string; samples: number }[];
  /** Samples by the tier of the frame on top; `none` has no tier, or none that is known. */
  tiers: Record<Tier | 'none', number>;
  functions: FlameFunction[];
  /** The call tree in pre-order, heaviest child first. Frames below `leastSamples` are left out. */
  tree: FlameNode[];
  leastSamples: number;
  warnings: string[];
}

export interface FlameLoad {
  generator: string;
  connections: number;
  requests: string[];
  completed: number;
  seconds: number;
  serverBusy: number;
  /** Main-thread CPU per request. */
  microsPerRequest: number;
}

export interface FlameFunction {
  name: string;
  /** `src/app.ts:12:3`, from the server's folder, through source maps; empty for what has no source. */
  place: string;
  owner: Owner;
  self: number;
  total: number;
  /** Of `self`. */
  tiers: Partial<Record<Tier, number>>;
  /** Takes a hundredth of the samples itself, most of it in Ignition or Sparkplug. */
  unoptimised?: true;
}

/** `[depth, index in functions, total, self, ignition, sparkplug, maglev, turbofan]`; tiers are of the total. */
export type FlameNode = [number, number, number, number, number, number, number, number];
