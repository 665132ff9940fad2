import { setTimeout as sleep } from 'node:timers/promises';
import type { Plan } from '../../config/resolve-plan.ts';
import { withSession } from '../../load/endpoint.ts';
import type { LoadOutcome } from '../../load/closed-loop.ts';
import type { Observations } from '../observations.ts';
import type { Slice } from '../result.ts';
import { cpuBetween, type CpuSpan, readCpu, waitedForCoreMicros } from '../../system/cpu-clock.ts';
import { askProbe } from './probe.ts';
import { findBadAnswer } from '../../servers/bad-answer.ts';
import { statusText } from '../../servers/contract.ts';
import type { Server } from '../../servers/server.ts';
import { untilIdle } from '../../servers/until-idle.ts';

/** For the slowest server: with fewer, the figure would depend mostly on whether the last response came in time. */
const answersPerConnection = 2;
const maxSliceMs = 2_000;

/** Returns a slice length in which the slowest server responds on every connection, and at least the planned one. */
export function sliceMsFor(
  { connections, precision }: Plan,
  slowestRps: number | undefined,
): number {
  if (slowestRps === undefined) return precision.sliceMs;
  const wanted = Math.ceil((answersPerConnection * connections) / slowestRps / 0.1) * 100;
  return Math.max(precision.sliceMs, Math.min(wanted, maxSliceMs));
}

type Measured = Omit<Slice, 'restart' | 'block' | 'variant' | 'turns'>;

/** The outcome of one slice: `'void'` without any response, `fault` if its server failed. */
export type MeasuredSlice = Measured | 'void' | { fault: string };

interface SliceLoad {
  plan: Plan;
  observations: Pick<Observations, 'generator'>;
  sliceMs: number;
  signal: AbortSignal;
}

/** @throws {LabError} ERR_REDLINE_SERVER when the server has ended */
export async function measureSlice(server: Server, load: SliceLoad): Promise<MeasuredSlice> {
  // Drops the probe's figures of the time before this slice.
  if (server.probePath !== undefined) await askProbe(server);
  const { cpu, waitedMicros, outcome } = await loadOnce(server, load);
  if (server.hasEnded) throw await server.failure('ended while it was measured');
  server.dropOutput();
  const { requests, seconds, badStatus, socketErrors, busy } = outcome;
  // A machine busy with other work can leave a whole slice without a response, which says nothing about the variant.
  if (requests === 0) return 'void';
  if (badStatus > 0) {
    return {
      fault: `answered ${badStatus} of ${requests} requests with ${await badStatusOf(server, load.plan)}`,
    };
  }
  if (socketErrors > 0) return { fault: `broke ${socketErrors} connections` };
  return {
    requests,
    seconds,
    cpuMicros: cpu.totalMicros,
    ...(cpu.mainThreadMicros === undefined ? {} : { mainThreadMicros: cpu.mainThreadMicros }),
    ...(cpu.endedMicros ? { endedMicros: cpu.endedMicros } : {}),
    waitedForCoreMicros: Math.max(0, Math.round(waitedMicros)),
    ...(server.probePath === undefined ? {} : { probe: await askProbe(server) }),
    ...(busy === undefined ? {} : { generatorBusy: busy }),
  };
}

async function badStatusOf(server: Server, plan: Plan): Promise<string> {
  const bad = await findBadAnswer(server, plan);
  return bad === undefined ? 'a status outside 2xx and 3xx' : `status ${statusText(bad.answer)}`;
}

async function loadOnce(
  server: Server,
  { plan, observations: { generator }, sliceMs: durationMs, signal }: SliceLoad,
): Promise<{ cpu: CpuSpan; waitedMicros: number; outcome: LoadOutcome }> {
  const before = readCpu(server.pid);
  const waitedBefore = waitedForCoreMicros(server.pid);
  const outcome = await generator
    .run({
      host: server.host,
      port: server.port,
      requests: withSession(server, plan.requests),
      connections: plan.connections,
      pipeline: plan.pipeline,
      durationMs,
      signal,
    })
    .catch(async (error: unknown) => {
      // A generator that meets a closed port fails before the server's exit is known here.
      await sleep(100);
      throw server.hasEnded ? await server.failure('ended while it was measured') : error;
    });
  const cpu = cpuBetween(before, readCpu(server.pid));
  const waitedMicros = waitedForCoreMicros(server.pid) - waitedBefore;
  // The server works on its last requests after the load has ended, on the core that the next server is measured on.
  await untilIdle(server.pid, { quietMs: 3, maxMs: maxSliceMs }, signal);
  return { cpu, waitedMicros, outcome };
}
