import { setTimeout as sleep } from 'node:timers/promises';
import type { Plan } from '../config/resolve-plan.ts';
import type { LoadGenerator, LoadOutcome } from '../load/generator.ts';
import type { Slice } from '../result.ts';
import { cpuBetween, type CpuSpan, readCpu } from './cpu-clock.ts';
import { askProbe } from './probe.ts';
import type { Server } from './server.ts';

type Measured = Omit<Slice, 'restart' | 'block' | 'variant' | 'turns'>;

/**
 * What happened in one slice; `'void'` when nothing did.
 * @throws {LabError} ERR_REDLINE_SERVER when the server is gone afterwards
 */
export async function measureSlice(
  server: Server,
  plan: Plan,
  generator: LoadGenerator,
  signal: AbortSignal,
): Promise<Measured | 'void' | { fault: string }> {
  // What it says of the time before this slice is dropped.
  if (server.probePath !== undefined) await askProbe(server);
  const { cpu, outcome } = await loadOnce(server, plan, generator, signal);
  if (server.hasEnded) throw await server.failure('ended while it was measured');
  server.dropOutput();
  const { requests, seconds, badStatus, socketErrors, busy } = outcome;
  // A machine that was busy elsewhere can leave a whole slice without an answer. It says nothing of the variant.
  if (requests === 0) return 'void';
  if (badStatus > 0) {
    return {
      fault: `answered ${badStatus} of ${requests} requests with a status outside 2xx and 3xx`,
    };
  }
  if (socketErrors > 0) return { fault: `broke ${socketErrors} connections` };
  return {
    requests,
    seconds,
    cpuMicros: cpu.totalMicros,
    ...(cpu.mainThreadMicros === undefined ? {} : { mainThreadMicros: cpu.mainThreadMicros }),
    ...(cpu.endedMicros ? { endedMicros: cpu.endedMicros } : {}),
    ...(server.probePath === undefined ? {} : { probe: await askProbe(server) }),
    ...(busy === undefined ? {} : { generatorBusy: busy }),
  };
}

async function loadOnce(
  server: Server,
  plan: Plan,
  generator: LoadGenerator,
  signal: AbortSignal,
): Promise<{ cpu: CpuSpan; outcome: LoadOutcome }> {
  const before = readCpu(server.pid);
  const outcome = await generator
    .run({
      port: server.port,
      requests: plan.requests,
      connections: plan.connections,
      pipeline: plan.pipeline,
      durationMs: plan.precision.sliceMs,
      signal,
    })
    .catch(async (error: unknown) => {
      // A generator that meets a closed port fails before the exit of the server is known here.
      await sleep(100);
      throw server.hasEnded ? await server.failure('ended while it was measured') : error;
    });
  return { cpu: cpuBetween(before, readCpu(server.pid)), outcome };
}
