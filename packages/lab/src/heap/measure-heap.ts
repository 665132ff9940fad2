import type { HeapApp } from './app.ts';
import { grows, growthOf } from './growth.ts';
import { collectGarbage, heldBytes } from './memory.ts';
import type { Growth, Reading } from './result.ts';
import type { HeapCost, HeapLoad } from './result.ts';
import type { Sender } from './sender.ts';

export interface HeapSettings {
  warmupMs: number;
  rounds: number;
  /** Per round. @default one second of requests */
  requests: number | undefined;
  signal: AbortSignal;
  phase: (text: string) => void;
}

export interface MeasuredGrowth {
  readings: Reading[];
  growth: Growth;
  grows: boolean;
  load: HeapLoad;
  cost: HeapCost;
  warnings: string[];
}

/** Requests sent before the speed of the app is known. */
const firstRequests = 50;
const roundMs = 1_000;
const minRequests = 40;
/** Enough to fill the usual cache of ten thousand entries within a run. */
const maxRequests = 2_000;
/** Rounds after the warm-up that are not counted. */
const discardedRounds = 2;
/** Max memory that a leak may take from the process while it is measured. */
const maxLeakedBytes = 400 * 2 ** 20;

/**
 * Sends equal rounds of requests, with full collections after each, and fits the growth of the rest. Growth is measured again over
 * as many rounds, and only these are reported: a cache that was filling is full by then.
 */
export async function measureGrowth(
  app: HeapApp,
  sender: Sender,
  settings: HeapSettings,
): Promise<MeasuredGrowth> {
  const { inspector } = app;
  const { phase, rounds } = settings;
  phase('warming up');
  const first = await sender.send(firstRequests);
  const before = heldBytes(await collectGarbage(inspector));
  const warmUp = Math.max(firstRequests, Math.round((settings.warmupMs / 1_000) * first.perSecond));
  const { perSecond } = await sender.send(warmUp);
  const growthEach = (heldBytes(await collectGarbage(inspector)) - before) / warmUp;
  const requests = settings.requests ?? requestsPerRound(perSecond, growthEach, rounds);
  for (let round = 0; round < discardedRounds; round++) {
    await sender.send(requests);
    await collectGarbage(inspector);
  }
  const discarded = sender.sent;
  let collectionMs = 0;
  const read = async (): Promise<Reading> => {
    const { collectionMs: longestMs, ...memory } = await collectGarbage(inspector);
    collectionMs = Math.max(collectionMs, longestMs);
    return { requests: sender.sent - discarded, ...memory };
  };
  const measure = async (readings: Reading[], upTo: number, word: string): Promise<void> => {
    for (let round = readings.length; round <= upTo; round++) {
      phase(`${word} ${round} of ${upTo}`);
      await sender.send(requests);
      readings.push(await read());
    }
  };
  const readings = [await read()];
  await measure(readings, rounds, 'round');
  let growth = growthOf(readings);
  let isGrowing = grows(growth);
  if (isGrowing) {
    await measure(readings, 2 * rounds, 'it grows: round');
    growth = growthOf(readings.slice(rounds));
    isGrowing = grows(growth);
  }
  return {
    readings,
    growth,
    grows: isGrowing,
    load: {
      connections: sender.connections,
      requests: sender.labels,
      requestsPerRound: requests,
      discarded,
    },
    cost: { collectionMs },
    warnings: sender.warnings,
  };
}

/** Returns as many as the app serves in the time of a round, and as it has memory for if all its growth is a leak. */
function requestsPerRound(perSecond: number, growthEach: number, rounds: number): number {
  const inTime = (perSecond * roundMs) / 1_000;
  const inMemory = maxLeakedBytes / Math.max(1, growthEach) / (2 * rounds + discardedRounds);
  return Math.round(Math.max(minRequests, Math.min(maxRequests, inTime, inMemory)));
}
