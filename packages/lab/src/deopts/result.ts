import type { FlameLoad } from '../flame/result.ts';
import type { Owner } from '../profile/owner.ts';
import type { ProfiledThread } from '../profile/profiled-thread.ts';
import type { Tier } from '../profile/tiers.ts';
import type { MachineFacts } from '../figures.ts';
import type { RunFacts } from '../report/run-facts.ts';

/** The result of `redline deopts`. Seconds are since the process began; undefined if V8 gives no times (Node 8). */
export interface DeoptsResult extends RunFacts {
  schema: 1;
  command: 'deopts';
  scenario: string;
  title: string;
  variant: string;
  /** These three are absent for a log read from a file. */
  machine?: MachineFacts;
  node?: string;
  load?: FlameLoad;
  /** The thread of the log; absent if no other thread of the server runs JavaScript. */
  profiled?: ProfiledThread;
  /** Start of the load that counts, after the warm-up. */
  loadBegan?: number;
  /** Time of the last event in the log. */
  endedAt?: number;
  /** The app's own first, then those of packages, Node and V8; most own time first in both. */
  functions: DeoptFunction[];
  /** Deopts that are a normal part of V8's work, such as the change to optimised code within a running loop. */
  benign: number;
  warnings: string[];
}

export interface DeoptFunction {
  name: string;
  /** Through source maps. */
  place: string;
  owner: Owner;
  /** Share of the profile spent in the function itself, 0 to 1. Absent without a profile. */
  own?: number;
  now: Tier;
  /** Number of times V8 made optimised code for it. */
  optimised: number;
  /** True if one of its places was left three times or more. */
  isLoop: boolean;
  /** True if it was left again in the second half of the load, and not for the first time. */
  isStillGoing: boolean;
  sites: DeoptSite[];
  history: TierStep[];
}

/** A place where optimised code was left, for one reason. */
export interface DeoptSite {
  /** In V8's words. */
  reason: string;
  /** V8's word: `eager` when a check failed, `soft` the same without prejudice, `lazy` when something it relied on changed. */
  kind: string;
  from: Tier;
  times: number;
  /** Through source maps; empty if V8 names none. */
  place: string;
  /** Places of the functions it was inlined into, innermost first. */
  inlinedAt: string[];
  /** The line of source, with the column at which it happened, from 1. */
  source?: { text: string; column: number };
  lastSeconds?: number;
  /** The meaning of the reason and a remedy, if they are known. */
  explanation?: string;
}

export interface TierStep {
  seconds?: number;
  tier: Tier;
  /** V8's reason for discarding optimised code. */
  deopt?: string;
}
