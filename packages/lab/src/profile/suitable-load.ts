import type { Plan } from '../config/resolve-plan.ts';
import type { Endpoint } from '../load/endpoint.ts';
import { send, distinctRequests } from '../servers/contract.ts';
import type { Server } from '../servers/server.ts';
import { untilIdle } from '../servers/until-idle.ts';
import { mainThreadWaitedMicros, readCpu, waitedForCoreMicros } from '../system/cpu-clock.ts';

/** The cost of one request by itself. */
export interface RequestCost {
  /** Time from sending it to its last byte, without the time in which another process had the core. */
  tookMs: number;
  /** CPU of the server and its processes. */
  cpuMs: number;
}

const maxConnections = 64;
/** Max share of the profile's time that all connections together may have in unfinished work. */
const shareInFlight = 0.05;
/** Twice what one core needs, so that it does not wait for the client. */
const perCore = 2;
const maxAskingMs = 3_000;
const sendsPerRequest = 2;

/**
 * Returns the number of connections that keep one core busy while the requests in flight are a small part of the run. Sixty-four
 * requests of 200 ms of CPU each are 13 s of work: none of them ends in a profile of 10 s that begins after a warm-up.
 * @param durationMs Length of the load.
 */
export function suitableConnections({ tookMs, cpuMs }: RequestCost, durationMs: number): number {
  const cpu = Math.max(cpuMs, 0.01);
  const toFillACore = Math.ceil(perCore * Math.max(1, tookMs / cpu));
  const thatFinish = Math.floor((durationMs * shareInFlight) / cpu);
  return Math.min(maxConnections, Math.max(toFillACore, thatFinish));
}

/**
 * Sends a few requests of the plan, one after another.
 * @param endpoint Address of the server, if not at its own port.
 */
export async function measureRequestCost(
  server: Server,
  plan: Plan,
  signal: AbortSignal,
  endpoint: Endpoint = server,
): Promise<RequestCost> {
  const requests = distinctRequests(plan.requests).slice(0, 10);
  const deadline = performance.now() + maxAskingMs;
  const before = readCpu(server.pid).totalMicros;
  // The sender needs a core, too.
  const waited = (): number =>
    waitedForCoreMicros(server.pid) + mainThreadWaitedMicros(process.pid);
  const waitedBefore = waited();
  const startedAt = performance.now();
  let asked = 0;
  // A slow route is known after its first response; a fast one takes longer while its code is not optimised yet.
  while (
    asked === 0 ||
    (asked < requests.length * sendsPerRequest && performance.now() < deadline)
  ) {
    signal.throwIfAborted();
    await send(endpoint, requests[asked % requests.length]!, { timeoutMs: 60_000, signal });
    asked++;
  }
  const waitedMs = (waited() - waitedBefore) / 1_000;
  return {
    tookMs: Math.max(0, performance.now() - startedAt - waitedMs) / asked,
    cpuMs: (readCpu(server.pid).totalMicros - before) / 1_000 / asked,
  };
}

/** Returns the plan with connections that suit its requests, unless the user chose their number. */
export async function withSuitableConnections(
  server: Server,
  plan: Plan,
  { durationMs, signal }: { durationMs: number; signal: AbortSignal },
): Promise<{ plan: Plan; requestCost: RequestCost }> {
  const requestCost = await measureRequestCost(server, plan, signal);
  if (plan.hasConnections) return { plan, requestCost };
  return {
    plan: { ...plan, connections: suitableConnections(requestCost, durationMs) },
    requestCost,
  };
}

/** Waits until the server has finished the rest of a load, which would otherwise be in the profile of the next one. */
export async function untilDrained(
  server: Server,
  { connections }: Plan,
  { cpuMs }: RequestCost,
  signal: AbortSignal,
): Promise<void> {
  const maxMs = Math.min(60_000, Math.max(500, 3 * connections * cpuMs));
  await untilIdle(server.pid, { quietMs: 20, maxMs }, signal);
}

/** Returns a sentence if unfinished work is a large part of the measurement. */
export function inFlightWarning({
  requests,
  seconds,
  microsPerRequest,
  connections,
}: {
  requests: number;
  seconds: number;
  microsPerRequest: number;
  connections: number;
}): string | undefined {
  const share = (connections * microsPerRequest) / (seconds * 1e6);
  if (share <= 2 * shareInFlight) return undefined;
  const each = Math.round(microsPerRequest / 1_000);
  return `Each request takes ${each} ms of CPU, and ${connections} of them were in flight at the end beside ${requests} that were answered: the time per request is too high by up to ${Math.round(100 * Math.min(1, share))} %. Choose fewer with --connections, or a longer --seconds.`;
}
