import { setTimeout as sleep } from 'node:timers/promises';
import { EndingTimes } from './ending-times.ts';
import { lookAtRequests, MemoryTally } from './memory-tally.ts';
import { type CutSlice, whole } from './protocol.ts';
import type { StairsState } from './state.ts';

/** The main thread's clock if available (from Node 22.19); otherwise that of the process. */
const threadClock = (process as { threadCpuUsage?: () => NodeJS.CpuUsage }).threadCpuUsage;
export const hasThreadClock: boolean = threadClock !== undefined;

export interface SliceShape {
  guardMs: number;
  countedMs: number;
  timesEndings: boolean;
  countsMemory: boolean;
}

interface Reading {
  atMs: number;
  threadMicros: number;
  cpuMicros: number;
  requests: number;
  stubs: number;
  failures: number;
}

/**
 * Holds each cut for one slice. Requests in flight at its start belong to another cut, so the first `guardMs` of a slice do not
 * count.
 */
export async function rotate(
  state: StairsState,
  rounds: readonly (readonly number[])[],
  { guardMs, countedMs, timesEndings, countsMemory }: SliceShape,
  onRound: (slices: CutSlice[]) => void,
): Promise<void> {
  for (const [round, cuts] of rounds.entries()) {
    const slices: CutSlice[] = [];
    for (const cut of cuts) {
      state.k = Math.min(cut, whole);
      await sleep(guardMs);
      const endings = timesEndings ? new EndingTimes() : undefined;
      state.endings = endings;
      const tally = countsMemory ? new MemoryTally() : undefined;
      const stopLooking = tally && lookAtRequests(tally);
      const before = read(state);
      await sleep(countedMs);
      const after = read(state);
      stopLooking?.();
      state.endings = undefined;
      endings?.stop();
      const endingMicros = endings?.take();
      const timed = endingMicros === undefined ? {} : { endingMicros };
      const memory = tally?.stop(after.threadMicros - before.threadMicros);
      slices.push({ round, cut, ...between(before, after), ...timed, ...memory });
    }
    state.k = whole;
    onRound(slices);
  }
}

function read(state: StairsState): Reading {
  const all = process.cpuUsage();
  const thread = threadClock?.call(process) ?? all;
  return {
    atMs: performance.now(),
    threadMicros: thread.user + thread.system,
    cpuMicros: all.user + all.system,
    requests: state.requests,
    stubs: state.stubs,
    failures: state.failures,
  };
}

function between(before: Reading, after: Reading): Omit<CutSlice, 'round' | 'cut'> {
  return {
    requests: after.requests - before.requests,
    stubs: after.stubs - before.stubs,
    failures: after.failures - before.failures,
    seconds: (after.atMs - before.atMs) / 1_000,
    threadMicros: after.threadMicros - before.threadMicros,
    cpuMicros: after.cpuMicros - before.cpuMicros,
  };
}
