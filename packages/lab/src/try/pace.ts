import type { Plan } from '../config/resolve-plan.ts';
import { enoughRestarts } from '../bench/restart/until-time-is-over.ts';
import { type RequestCost, suitableConnections } from '../profile/suitable-load.ts';
import { plural, seconds } from '../report/format.ts';

/** Max restarts: the time decides on their number. */
const inTurns = { restarts: 12, blocks: 2, sliceMs: 100, warmupMs: 1_000, latencyMs: 200 };
const withoutTurns = { restarts: 12, blocks: 6, sliceMs: 200, warmupMs: 1_000, latencyMs: 300 };

/** Returns a precision that fits into a minute or less. */
export function precisionWithin({ turns }: Pick<Plan, 'turns'>): Plan['precision'] {
  return turns ? inTurns : withoutTurns;
}

/**
 * At this response time a response is longer than a turn of 40 ms can hold, and a load on another core costs little in comparison.
 */
const slowMs = 25;
/** In units of the time in which every connection gets a response: the share of the last one is small. */
const cyclesPerSlice = 2.5;
const cyclesOfLatency = 3;
const minLatencyMs = 300;
const contestants = 3;
/** Measured length of a server's turn without the wait for its responses, which takes at most 100 ms. */
const turnMs = 100;
const maxQueueMs = 100;
const turnsPerBlock = 8;
/** Uncounted turns after the warm-up, a check of how long it waits, and the check of its responses. */
const preparationMs = 700;
/** Max length of a slice that is extended until each connection has two responses in it. */
const maxSliceMs = 2_000;
/** Time to stop the servers and to write the files of a run. */
const afterwardsMs = 500;
/** Two more starts and the comparison of their responses precede the first restart. */
const copiesToCompare = 2;
/**
 * Time reserved within twice the announced time when a run is stopped: servers may take three seconds to end, and intervals are
 * computed.
 */
const shutdownMs = 4_000;

/** One restart shows nothing of how starts differ: for a second one, a time chosen by the user may be exceeded by this factor. */
const mayOverrun = 1.5;

/** Share of a restart that is measured. More restarts say more than longer ones: if few fit, each is shorter. */
const lengths = [
  { blocks: 2, shareOfWarmUp: 1, passes: turnsPerBlock },
  { blocks: 1, shareOfWarmUp: 0.5, passes: turnsPerBlock },
  { blocks: 1, shareOfWarmUp: 0.5, passes: turnsPerBlock / 2 },
] as const;

/** Measurement settings for an app, chosen by its response time, and the time they take. */
export interface Pace {
  precision: Plan['precision'];
  connections: number;
  turns: boolean;
  passes: number;
  minRestarts: number;
  /** For all remaining work. */
  estimateMs: number;
  /** True if the user gave less time. */
  isLonger: boolean;
}

export interface Speed extends RequestCost {
  /** Time from the app's start until it listens. */
  startMs: number;
}

export interface GivenTime {
  /** Remaining time. */
  leftMs: number;
  /** True if the user chose it: fewer restarts than usual then have to do. */
  isChosen: boolean;
  /** Set if the user chose the number of restarts instead. */
  restarts: number | undefined;
  coreCount: number;
}

/** Chooses connections, slices and restarts before the app is measured. */
export function paceOf(
  plan: Plan,
  speed: Speed,
  { leftMs, isChosen, restarts, coreCount }: GivenTime,
): Pace {
  const { tookMs, cpuMs, startMs } = speed;
  const isSlow = tookMs >= slowMs;
  const connections =
    plan.hasConnections || !isSlow ? plan.connections : suitableConnections(speed, 0);
  const cycleMs = Math.max(tookMs, connections * cpuMs);
  const turns = plan.turns && !isSlow;
  const usual = precisionWithin({ turns });
  const paces = lengths.map(({ blocks, shareOfWarmUp, passes }) => {
    const warmupMs = shareOfWarmUp * usual.warmupMs;
    const precision = {
      ...usual,
      blocks: isSlow ? blocks : (blocks * usual.blocks) / 2,
      ...(isSlow
        ? {
            sliceMs: tenths(Math.max(usual.sliceMs, cyclesPerSlice * cycleMs)),
            warmupMs: Math.max(warmupMs, 2 * cycleMs),
            latencyMs: tenths(Math.max(minLatencyMs, cyclesOfLatency * cycleMs)),
          }
        : { warmupMs }),
    };
    const sliceMs = Math.max(precision.sliceMs, Math.min(2 * cycleMs, maxSliceMs));
    const turn = turnMs + Math.min(cycleMs, maxQueueMs);
    const blockMs = sliceMs + cycleMs + (turns ? passes * turn : 0);
    const serverMs =
      startMs + preparationMs + 4 * tookMs + precision.blocks * blockMs + precision.latencyMs;
    const warmUpMs = Math.ceil(contestants / coreCount) * precision.warmupMs;
    return { precision, passes, restartMs: contestants * serverMs + warmUpMs + afterwardsMs };
  });
  const beforeMs = copiesToCompare * (startMs + 2 * tookMs) + afterwardsMs;
  const fits = ({ restartMs }: { restartMs: number }): boolean =>
    beforeMs + enoughRestarts * restartMs <= leftMs;
  // With one restart the user wants a quick look, however long it takes.
  const counted = restarts === 1 ? paces.at(-1)! : paces[0]!;
  const chosen = restarts === undefined ? (paces.find(fits) ?? paces.at(-1)!) : counted;
  const two = beforeMs + 2 * chosen.restartMs;
  const minRestarts = !isChosen ? enoughRestarts : two <= mayOverrun * leftMs ? 2 : 1;
  const minMs = beforeMs + (restarts ?? minRestarts) * chosen.restartMs;
  const { precision, passes } = chosen;
  return {
    precision: { ...precision, restarts: restarts ?? precision.restarts },
    connections,
    turns,
    passes,
    minRestarts,
    estimateMs: restarts === undefined ? Math.max(leftMs, minMs) : minMs,
    isLonger: restarts === undefined && minMs > leftMs,
  };
}

/** Returns when an announced run is stopped, in milliseconds from its announcement. */
export function timeLimitMsOf({ estimateMs }: Pick<Pace, 'estimateMs'>): number {
  return Math.floor(Math.max(1.5 * estimateMs, 2 * estimateMs - shutdownMs));
}

/** Returns one sentence for display before the run starts. */
export function paceSentence(
  { estimateMs, isLonger, minRestarts }: Pace,
  { startMs, tookMs }: Speed,
): string {
  const why = `a start takes ${milliseconds(startMs)} and a response ${milliseconds(tookMs)}`;
  const more = isLonger
    ? `, so that even ${plural(minRestarts, 'round')} of three copies ${minRestarts === 1 ? 'takes' : 'take'} longer than the time that was left`
    : '';
  return `Takes about ${seconds(estimateMs / 1_000)} from here: ${why}${more}. At twice that it stops with what it knows then.`;
}

function milliseconds(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 1_000 ? `${Math.round(ms)} ms` : seconds(ms / 1_000);
}

/** Rounds up to tenths of a second, the only times at which wrk stops. */
function tenths(ms: number): number {
  return Math.ceil(ms / 100) * 100;
}
