import { performance } from 'node:perf_hooks';

/** Time, idle time of the event loop, and CPU of this thread, in milliseconds. */
export interface Clocks {
  ms: number;
  idleMs: number;
  cpuMs: number;
}

/** Available from Node 22.19. */
const threadClock = (process as { threadCpuUsage?: () => NodeJS.CpuUsage }).threadCpuUsage;

export function readClocks(): Clocks {
  const ms = performance.now();
  const idleMs = performance.eventLoopUtilization().idle;
  if (threadClock === undefined) return { ms, idleMs, cpuMs: ms - idleMs };
  // The kernel adds the current time slice of a thread when it is asked for those of the process.
  process.cpuUsage();
  const { user, system } = threadClock.call(process);
  return { ms, idleMs, cpuMs: (user + system) / 1_000 };
}

export function since(start: Clocks): Clocks {
  const now = readClocks();
  return {
    ms: now.ms - start.ms,
    idleMs: now.idleMs - start.idleMs,
    cpuMs: now.cpuMs - start.cpuMs,
  };
}
