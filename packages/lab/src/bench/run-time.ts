import { availableParallelism } from 'node:os';
import { type Overrides, type Plan, resolvePlans } from '../config/resolve-plan.ts';
import type { RedlineConfig } from '../config/types.ts';
import { plural, seconds } from '../report/format.ts';
import { LabError } from '../errors.ts';

/**
 * Time of `--quick` for all groups, without the set-up: less than the three minutes that it announces, because servers take some
 * seconds to end and intervals are computed.
 */
const quickMs = 165_000;
/** Typical times, for an estimate before anything is measured; they depend on the app. */
const startMs = 1_000;
const checkMs = 50;
const turnMs = 80;
const uncountedTurns = 2;
const turnsPerBlock = 8;
/** Time besides a slice: the load starts, and the server completes its last requests. */
const besideSliceMs = 100;
const uncountedBlocks = 2;
const besideLatencyMs = 150;
const stopMs = 300;

/** Estimates one restart of all servers of a plan, the A/A control included. */
function restartMsOf({ variants, precision, turns, oneAtATime }: Plan, cores: number): number {
  const {
    blocks,
    passes = turnsPerBlock,
    sliceMs,
    warmupMs,
    warmupRequests,
    latencyMs,
  } = precision;
  // A slow server needs more time for its requests.
  const warmingMs = warmupMs * (warmupRequests === undefined ? 1 : 1.5);
  const parallel = oneAtATime === undefined ? cores : 1;
  const turnsMs = turns ? (blocks * passes + uncountedTurns) * turnMs : 0;
  const slices = blocks + (turns || warmupMs === 0 || sliceMs >= 500 ? 0 : uncountedBlocks);
  const eachMs =
    (startMs + warmingMs) / parallel +
    checkMs +
    turnsMs +
    slices * (sliceMs + besideSliceMs) +
    latencyMs +
    besideLatencyMs;
  return (variants.length + 1) * eachMs + stopMs;
}

/** Estimates a run of all its groups; a time limit of the config counts where it is shorter. */
function runMsOf(plans: readonly Plan[], cores: number): number {
  const groups = plans.map((plan) => {
    const { restarts, minutes } = plan.precision;
    const once = restartMsOf(plan, cores);
    const asked = restarts * once;
    return minutes === undefined ? asked : Math.min(asked, Math.max(minutes * 60_000, once));
  });
  const sum = groups.reduce((total, ms) => total + ms, 0);
  const least = plans.reduce((total, plan) => total + restartMsOf(plan, cores), 0);
  return plans.every(({ isQuick }) => isQuick) ? Math.min(sum, Math.max(quickMs, least)) : sum;
}

/**
 * Shares the time of `--quick` among groups, before each of them again: by what a restart of each is estimated to take, so that a
 * group that took longer than that leaves less to the others.
 */
export class QuickTime {
  readonly #endsAt: number;
  readonly #cores: number;
  readonly #now: () => number;

  constructor(cores: number, now: () => number = Date.now) {
    this.#now = now;
    this.#cores = cores;
    this.#endsAt = now() + quickMs;
  }

  /** Bounds the first of the groups that are left; it has one restart, even if there is no time for it. */
  bound(left: readonly Plan[]): Pick<Plan, 'until' | 'minRestarts'> {
    const estimates = left.map((plan) => plan.precision.restarts * restartMsOf(plan, this.#cores));
    const share = estimates[0]! / estimates.reduce((sum, ms) => sum + ms, 0);
    const now = this.#now();
    return { until: now + share * Math.max(0, this.#endsAt - now), minRestarts: 1 };
  }
}

/** Describes a run before it starts. */
export interface RunEstimate {
  /** Number of groups; 1 for a config without groups. */
  groups: number;
  /** Names of the groups that `--quick` leaves out. */
  leftOut: string[];
  /** Servers of a restart of all groups, the A/A controls included. */
  servers: number;
  /** Max restarts of a group. */
  restarts: number;
  /** Expected duration, without the set-up. */
  seconds: number;
}

/** Estimates how long `redline bench` takes for a config, from its settings alone. */
export function estimateRun(
  config: RedlineConfig,
  { quick = false, cores = availableParallelism() }: { quick?: boolean; cores?: number } = {},
): RunEstimate {
  return estimateOf(choosePlans(config, '.', { quick }), cores);
}

function estimateOf({ plans, leftOut }: ChosenPlans, cores: number): RunEstimate {
  return {
    groups: plans.length,
    leftOut,
    servers: plans.reduce((sum, { variants }) => sum + variants.length + 1, 0),
    restarts: Math.max(...plans.map(({ precision }) => precision.restarts)),
    seconds: runMsOf(plans, cores) / 1_000,
  };
}

/** Returns the line before a run: `2 of 9 groups, 9 servers, up to 4 restarts; about 2 m 40 s after the set-up. --quick leaves out …`. */
export function announcement({ plans, leftOut }: ChosenPlans, cores: number): string {
  const run = estimateOf({ plans, leftOut }, cores);
  const all = plural(run.groups + leftOut.length, 'group');
  const groups = leftOut.length === 0 ? all : `${run.groups} of ${all}`;
  const isBounded = plans.some(({ isQuick, precision }) => isQuick ?? precision.minutes);
  const parts = [
    ...(plans[0]!.group === undefined ? [] : [groups]),
    plural(run.servers, 'server'),
    `${isBounded ? 'up to ' : ''}${plural(run.restarts, 'restart')}`,
  ];
  const without = leftOut.length === 0 ? '' : `. --quick leaves out ${leftOut.join(', ')}`;
  const after = plans[0]!.setup === undefined ? '' : ' after the set-up';
  return `${parts.join(', ')}; about ${seconds(run.seconds)}${after}${without}`;
}

interface ChosenPlans {
  plans: Plan[];
  /** Names of the groups that `--quick` leaves out. */
  leftOut: string[];
}

/** Returns the plans of the variants that `--only` names; otherwise of all, or of those that `--quick` measures. */
export function choosePlans(
  config: RedlineConfig,
  folder: string,
  { only, ...overrides }: Overrides & { only?: readonly string[] },
): ChosenPlans {
  const all = resolvePlans(config, folder, overrides);
  if (only !== undefined) return { plans: chosen(all, only), leftOut: [] };
  if (!overrides.quick) return { plans: all, leftOut: [] };
  const quick = config.variants.filter(({ quick: isQuick }) => isQuick !== false);
  const plans = chosen(
    all,
    quick.map(({ name }) => name),
  );
  const known = new Set(plans.map(({ group }) => group));
  return { plans, leftOut: all.flatMap(({ group }) => (known.has(group) ? [] : group!)) };
}

function chosen(plans: readonly Plan[], only: readonly string[]): Plan[] {
  const names = plans.flatMap(({ variants }) => variants.map(({ name }) => name));
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new LabError(
      'ERR_REDLINE_OPTION',
      `--only names "${unknown}", which is not one of ${names.join(', ')}.`,
    );
  }
  return plans.flatMap((plan) => {
    const variants = plan.variants.filter(({ name }) => only.includes(name));
    if (variants.length === 0) return [];
    const hasBaseline = variants.some(({ name }) => name === plan.baseline);
    const floor = variants.find(({ name }) => name === plan.floor)?.name;
    return { ...plan, variants, floor, baseline: hasBaseline ? plan.baseline : variants[0]!.name };
  });
}
