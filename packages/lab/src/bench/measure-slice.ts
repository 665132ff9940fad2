import { setTimeout as sleep } from 'node:timers/promises';
import type { Plan } from '../config/resolve-plan.ts';
import { withSession } from '../load/endpoint.ts';
import type { LoadOutcome } from '../load/generator.ts';
import type { Observations } from './observations.ts';
import type { Slice } from './result.ts';
import { cpuBetween, type CpuSpan, readCpu } from '../system/cpu-clock.ts';
import { askProbe } from './probe.ts';
import { send, statusText } from '../servers/contract.ts';
import { distinctRequests } from '../servers/distinct-requests.ts';
import type { Server } from '../servers/server.ts';
import { untilIdle } from '../servers/until-idle.ts';

/** Of the slowest server: with fewer, whether the last one came in time would be most of the figure. */
const answersPerConnection = 2;
const mostSliceMs = 2_000;

/** A slice in which the slowest server answers every connection, and at least as long as it was asked to be. */
export function sliceMsFor(
  { connections, precision }: Plan,
  slowestRps: number | undefined,
): number {
  if (slowestRps === undefined) return precision.sliceMs;
  const wanted = Math.ceil((answersPerConnection * connections) / slowestRps / 0.1) * 100;
  return Math.max(precision.sliceMs, Math.min(wanted, mostSliceMs));
}

type Measured = Omit<Slice, 'restart' | 'block' | 'variant' | 'turns'>;

/** What happened in one slice: `'void'` when nothing did, `fault` when its server failed. */
export type MeasuredSlice = Measured | 'void' | { fault: string };

interface SliceLoad {
  plan: Plan;
  observations: Pick<Observations, 'generator'>;
  sliceMs: number;
  signal: AbortSignal;
}

/** @throws {LabError} ERR_REDLINE_SERVER when the server is gone afterwards */
export async function measureSlice(server: Server, load: SliceLoad): Promise<MeasuredSlice> {
  // What it says of the time before this slice is dropped.
  if (server.probePath !== undefined) await askProbe(server);
  const { cpu, outcome } = await loadOnce(server, load);
  if (server.hasEnded) throw await server.failure('ended while it was measured');
  server.dropOutput();
  const { requests, seconds, badStatus, socketErrors, busy } = outcome;
  // A machine that was busy elsewhere can leave a whole slice without an answer. It says nothing of the variant.
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
    ...(server.probePath === undefined ? {} : { probe: await askProbe(server) }),
    ...(busy === undefined ? {} : { generatorBusy: busy }),
  };
}

/** The load counts them; the next requests, as many at a time, show which it was, where it lasts. */
async function badStatusOf(server: Server, { requests, connections }: Plan): Promise<string> {
  const distinct = distinctRequests(requests);
  const some = Array.from(
    { length: Math.max(distinct.length, connections) },
    (_, at) => distinct[at % distinct.length]!,
  );
  const answers = await Promise.all(some.map((each) => send(server, each).catch(() => undefined)));
  const bad = answers.find((answer) => answer !== undefined && answer.status >= 400);
  if (bad !== undefined) return `status ${statusText(bad)}`;
  return 'a status outside 2xx and 3xx';
}

async function loadOnce(
  server: Server,
  { plan, observations: { generator }, sliceMs: durationMs, signal }: SliceLoad,
): Promise<{ cpu: CpuSpan; outcome: LoadOutcome }> {
  const before = readCpu(server.pid);
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
      // A generator that meets a closed port fails before the exit of the server is known here.
      await sleep(100);
      throw server.hasEnded ? await server.failure('ended while it was measured') : error;
    });
  const cpu = cpuBetween(before, readCpu(server.pid));
  // What it was asked last it answers after the end, on the core that the next server is measured on.
  await untilIdle(server.pid, { quietMs: 3, mostMs: mostSliceMs }, signal);
  return { cpu, outcome };
}
