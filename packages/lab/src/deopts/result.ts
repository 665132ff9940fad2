import type { FlameLoad } from '../flame/result.ts';
import type { Owner } from '../profile/owner.ts';
import type { Tier } from '../profile/tiers.ts';
import type { MachineFacts } from '../figures.ts';
import type { RunFacts } from '../report/run-facts.ts';

/** What `redline deopts` leaves behind. Seconds are since the process began; undefined where V8 gives no times (Node 8). */
export interface DeoptsResult extends RunFacts {
  schema: 1;
  command: 'deopts';
  scenario: string;
  title: string;
  variant: string;
  /** These three are absent for a log that was read from a file. */
  machine?: MachineFacts;
  node?: string;
  load?: FlameLoad;
  /** When the load that counts began, after the warm-up. */
  loadBegan?: number;
  /** When the last event was logged. */
  endedAt?: number;
  /** The app's own first, then those of packages, Node and V8; most own time first in both. */
  functions: DeoptFunction[];
  /** Deopts that are a normal part of how V8 works, such as the change to optimised code within a running loop. */
  benign: number;
  warnings: string[];
}

export interface DeoptFunction {
  name: string;
  /** Through source maps. */
  place: string;
  owner: Owner;
  /** Share of the profile it used itself, 0 to 1. Absent without a profile. */
  own?: number;
  now: Tier;
  /** Times V8 made optimised code for it. */
  optimised: number;
  /** One place of it was left three times or more. */
  isLoop: boolean;
  /** It was left once more in the second half of the load, and not for the first time. */
  isStillGoing: boolean;
  sites: DeoptSite[];
  history: TierStep[];
}

/** Where optimised code was left, and for one reason. */
export interface DeoptSite {
  /** In V8's words. */
  reason: string;
  /** V8's: `eager` when a check failed, `soft` the same without prejudice, `lazy` when something it relied on changed. */
  kind: string;
  from: Tier;
  times: number;
  /** Through source maps; empty where V8 names none. */
  place: string;
  /** What that was inlined into, innermost first. */
  inlinedAt: string[];
  /** The line of source, with the column at which it happened, from 1. */
  source?: { text: string; column: number };
  lastSeconds?: number;
  /** What the reason means and what to do, where we know. */
  explanation?: string;
}

export interface TierStep {
  seconds?: number;
  tier: Tier;
  /** V8's reason why optimised code was discarded. */
  deopt?: string;
}
