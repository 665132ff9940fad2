import type { Plan } from '../config/resolve-plan.ts';
import { suitableConnections, type FirstLook } from '../profile/suit-load.ts';
import { seconds } from '../report/format.ts';
import { precisionWithin } from './precision.ts';

/** From here on a response is longer than a turn of 40 ms can hold, and a load beside it costs little in comparison. */
const slowMs = 25;
/** Of the time in which every connection gets a response: the share of the last one is small. */
const cyclesPerSlice = 2.5;
const cyclesOfLatency = 3;
const leastLatencyMs = 300;
const blocksWhenSlow = 2;
/** Fewer say little of their own spread. */
const leastRestarts = 4;
const contestants = 3;
/** A server and block of fast responses, with the turns and the wait for them, as measured. */
const fastBlockMs = 1_100;

/** How an app is measured, by what a response takes, and how long that takes. */
export interface Pace {
  precision: Plan['precision'];
  connections: number;
  turns: boolean;
  /** For everything that is still to do. */
  estimateMs: number;
  /** A route that takes long. */
  isSlow: boolean;
}

export interface Speed extends FirstLook {
  /** From the start of the app until it listens. */
  startMs: number;
  coreCount: number;
}

/**
 * @param leftMs The time that the user gives.
 * @param restarts Where the user chose their number.
 */
export function paceOf(
  plan: Plan,
  { tookMs, cpuMs, startMs, coreCount }: Speed,
  { leftMs, restarts }: { leftMs: number; restarts: number | undefined },
): Pace {
  const isSlow = tookMs >= slowMs;
  const connections =
    plan.hasConnections || !isSlow ? plan.connections : suitableConnections({ tookMs, cpuMs }, 0);
  const cycleMs = Math.max(tookMs, connections * cpuMs);
  const usual = precisionWithin(plan);
  const precision = isSlow
    ? {
        ...usual,
        blocks: blocksWhenSlow,
        sliceMs: tenths(Math.max(usual.sliceMs, cyclesPerSlice * cycleMs)),
        warmupMs: Math.max(usual.warmupMs, 2 * cycleMs),
        latencyMs: tenths(Math.max(leastLatencyMs, cyclesOfLatency * cycleMs)),
      }
    : usual;
  const turns = plan.turns && !isSlow;
  const blockMs = turns ? fastBlockMs : precision.sliceMs + cycleMs;
  const serverMs = startMs + 4 * tookMs + precision.blocks * blockMs + precision.latencyMs;
  const warmUpMs = Math.ceil(contestants / coreCount) * precision.warmupMs;
  const restartMs = contestants * serverMs + warmUpMs;
  const fitting = Math.floor(leftMs / restartMs);
  const planned = restarts ?? Math.min(precision.restarts, Math.max(leastRestarts, fitting));
  const leastMs = planned * restartMs;
  return {
    precision: { ...precision, restarts: restarts ?? precision.restarts },
    connections,
    turns,
    estimateMs: restarts === undefined ? Math.max(leftMs, leastMs) : leastMs,
    isSlow,
  };
}

/** One sentence for people, before it begins. */
export function paceSentence({ estimateMs, isSlow }: Pace, { tookMs }: FirstLook): string {
  const why = isSlow ? `, because a response takes ${milliseconds(tookMs)}` : '';
  return `Measures for about ${seconds(estimateMs / 1_000)}${why}; after twice that it stops with what it knows then.`;
}

function milliseconds(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : seconds(ms / 1_000);
}

/** wrk ends at tenths of a second. */
function tenths(ms: number): number {
  return Math.ceil(ms / 100) * 100;
}
