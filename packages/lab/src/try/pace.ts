import type { Plan } from '../config/resolve-plan.ts';
import { enoughRestarts } from '../bench/restarts-that-fit.ts';
import { suitableConnections, type FirstLook } from '../profile/suit-load.ts';
import { plural, seconds } from '../report/format.ts';

/** The time decides on the restarts: these are the most. */
const inTurns = { restarts: 12, blocks: 2, sliceMs: 100, warmupMs: 1_000, latencyMs: 200 };
const withoutTurns = { restarts: 12, blocks: 6, sliceMs: 200, warmupMs: 1_000, latencyMs: 300 };

/** What fits into a minute or less. */
export function precisionWithin({ turns }: Pick<Plan, 'turns'>): Plan['precision'] {
  return turns ? inTurns : withoutTurns;
}

/** From here on a response is longer than a turn of 40 ms can hold, and a load beside it costs little in comparison. */
const slowMs = 25;
/** Of the time in which every connection gets a response: the share of the last one is small. */
const cyclesPerSlice = 2.5;
const cyclesOfLatency = 3;
const leastLatencyMs = 300;
const contestants = 3;
/** A turn of a server without the wait for its responses, as measured; that is 100 ms at most. */
const turnMs = 100;
const mostQueueMs = 100;
const turnsPerBlock = 8;
/** Turns that settle a server after the warm-up, a look at how long it waits, and the check of its responses. */
const settlingMs = 700;
/** A slice gets so much longer at most, so that each connection has two responses in it. */
const mostSliceMs = 2_000;
/** Stopping the servers, and the files of a run. */
const afterwardsMs = 500;
/** Two more starts and the comparison of their responses come before the first restart. */
const copiesToCompare = 2;
/** What is left of twice the time when a run is stopped: servers may take three seconds to end, and intervals are computed. */
const toEndMs = 4_000;

/** One restart shows nothing of how starts differ: for a second one a chosen time may be so much longer. */
const mayOverrun = 1.5;

/** How much of a restart is measured. More restarts say more than longer ones: where few fit, each is shorter. */
const lengths = [
  { blocks: 2, shareOfWarmUp: 1, passes: turnsPerBlock },
  { blocks: 1, shareOfWarmUp: 0.5, passes: turnsPerBlock },
  { blocks: 1, shareOfWarmUp: 0.5, passes: turnsPerBlock / 2 },
] as const;

/** How an app is measured, by what a response takes, and how long that takes. */
export interface Pace {
  precision: Plan['precision'];
  connections: number;
  turns: boolean;
  passes: number;
  leastRestarts: number;
  /** For everything that is still to do. */
  estimateMs: number;
  /** The user gave less. */
  isLonger: boolean;
}

export interface Speed extends FirstLook {
  /** From the start of the app until it listens. */
  startMs: number;
}

export interface GivenTime {
  /** What is left of it. */
  leftMs: number;
  /** Someone has chosen it: then fewer restarts than usual have to do. */
  isChosen: boolean;
  /** Where someone chose their number instead. */
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
            latencyMs: tenths(Math.max(leastLatencyMs, cyclesOfLatency * cycleMs)),
          }
        : { warmupMs }),
    };
    const sliceMs = Math.max(precision.sliceMs, Math.min(2 * cycleMs, mostSliceMs));
    const turn = turnMs + Math.min(cycleMs, mostQueueMs);
    const blockMs = sliceMs + cycleMs + (turns ? passes * turn : 0);
    const serverMs =
      startMs + settlingMs + 4 * tookMs + precision.blocks * blockMs + precision.latencyMs;
    const warmUpMs = Math.ceil(contestants / coreCount) * precision.warmupMs;
    return { precision, passes, restartMs: contestants * serverMs + warmUpMs + afterwardsMs };
  });
  const beforeMs = copiesToCompare * (startMs + 2 * tookMs) + afterwardsMs;
  const fits = ({ restartMs }: { restartMs: number }): boolean =>
    beforeMs + enoughRestarts * restartMs <= leftMs;
  // One restart is a quick look, however long it is.
  const counted = restarts === 1 ? paces.at(-1)! : paces[0]!;
  const chosen = restarts === undefined ? (paces.find(fits) ?? paces.at(-1)!) : counted;
  const two = beforeMs + 2 * chosen.restartMs;
  const leastRestarts = !isChosen ? enoughRestarts : two <= mayOverrun * leftMs ? 2 : 1;
  const leastMs = beforeMs + (restarts ?? leastRestarts) * chosen.restartMs;
  const { precision, passes } = chosen;
  return {
    precision: { ...precision, restarts: restarts ?? precision.restarts },
    connections,
    turns,
    passes,
    leastRestarts,
    estimateMs: restarts === undefined ? Math.max(leftMs, leastMs) : leastMs,
    isLonger: restarts === undefined && leastMs > leftMs,
  };
}

/** When a run that was announced is stopped, in milliseconds from its announcement. */
export function mostMsOf({ estimateMs }: Pick<Pace, 'estimateMs'>): number {
  return Math.floor(Math.max(1.5 * estimateMs, 2 * estimateMs - toEndMs));
}

/** One sentence for people, before it begins. */
export function paceSentence(
  { estimateMs, isLonger, leastRestarts }: Pace,
  { startMs, tookMs }: Speed,
): string {
  const why = `a start takes ${milliseconds(startMs)} and a response ${milliseconds(tookMs)}`;
  const more = isLonger
    ? `, so that even ${plural(leastRestarts, 'round')} of three copies ${leastRestarts === 1 ? 'takes' : 'take'} longer than the time that was left`
    : '';
  return `Takes about ${seconds(estimateMs / 1_000)} from here: ${why}${more}. At twice that it stops with what it knows then.`;
}

function milliseconds(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 1_000 ? `${Math.round(ms)} ms` : seconds(ms / 1_000);
}

/** wrk ends at tenths of a second. */
function tenths(ms: number): number {
  return Math.ceil(ms / 100) * 100;
}
