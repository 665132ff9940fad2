import type { Plan } from '../../config/resolve-plan.ts';
import { LabError } from '../../errors.ts';
import { withSession } from '../../load/endpoint.ts';
import { runOpenLoop } from '../../load/open-loop.ts';
import { checkContract, distinctRequests } from '../../servers/contract.ts';
import type { Server } from '../../servers/server.ts';
import type { SteadyCore } from '../../servers/steady-core.ts';
import { type Random, shuffled } from '../../stats/random.ts';
import { readRssMiB } from '../../system/cpu-clock.ts';
import type { Pinning } from '../../system/pinning.ts';
import { measureSlice, type MeasuredSlice, sliceMsFor } from './measure-slice.ts';
import { type Repeated, Turns } from './measure-turns.ts';
import { controlName, type Observations, type RunListener } from '../observations.ts';
import type { Slice, Turn } from '../result.ts';
import { warmUp } from './warm-up.ts';

/**
 * Blocks after the warm-up that are not counted. While the other servers warm up, a server is idle and its heap is trimmed, and its
 * first slices pay for growing it again.
 */
const uncountedBlocks = 2;
/** In a slice this long, the first few responses are a small part. */
const longSliceMs = 500;
/** With turns a server is steady sooner, and the lowest turns, which count, are not affected by the first few. */
const uncountedPasses = 2;
/**
 * Extra blocks for a server that got no CPU in any planned block of a crowded machine. Without a response in these either, it is
 * left out.
 */
const maxExtraBlocks = 4;

/** One restart of all contestants within its run. */
export interface Restart {
  /** Counted from 1. */
  number: number;
  plan: Plan;
  servers: readonly Server[];
  /** Receives the measurements. */
  observations: Observations;
  pinning: Pinning;
  listener: RunListener;
  random: Random;
  signal: AbortSignal;
  /** By name, in ms: idle times with requests open, of servers that hardly wait. */
  shortPauses: Map<string, number[]>;
  /** Repeats measurements that something outside slowed down; undefined if that cannot be detected. */
  steadyCore: SteadyCore | undefined;
}

/** Checks the servers' responses, warms the servers up, and measures blocks, memory and latency. */
export async function measureRestart(restart: Restart): Promise<void> {
  const slowestRps = await prepare(restart);
  {
    await using turns = await Turns.start({ ...restart, slowestRps });
    await measureBlocks(restart, turns, sliceMsFor(restart.plan, slowestRps));
  }
  if (restart.plan.precision.latencyMs > 0) await measureLatency(restart);
}

/** @returns requests per second of the slowest server, as far as the warm-up shows it */
async function prepare(restart: Restart): Promise<number | undefined> {
  const { plan, servers, listener, number, signal } = restart;
  listener.phase('checking answers', number);
  // The control comes second: an app that differs from itself is not the fault of a variant.
  const first = [controlName(plan.baseline), plan.baseline];
  const baselineFirst = servers.toSorted((a, b) => first.indexOf(b.name) - first.indexOf(a.name));
  await checkContract(baselineFirst, distinctRequests(plan.requests), signal);
  if (number === 1) for (const server of servers) await verify(server, plan);
  const slowestRps = await warmUp(restart);
  for (const server of servers) server.pin();
  return slowestRps;
}

async function verify(server: Server, plan: Plan): Promise<void> {
  const { url } = server;
  // A check by name knows only the names in its config, but the A/A control has a different one.
  const name = server.name === controlName(plan.baseline) ? plan.baseline : server.name;
  try {
    await plan.verify?.({ name, url, stdout: () => server.stdout() });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new LabError('ERR_REDLINE_CONTRACT', `"${server.name}" failed its check: ${reason}`, {
      cause,
    });
  }
}

async function measureBlocks(
  restart: Restart,
  turns: Turns | undefined,
  sliceMs: number,
): Promise<void> {
  const { plan, servers, observations, random, steadyCore } = restart;
  const measured: Repeated = (work) =>
    steadyCore === undefined ? work() : steadyCore.measure(work);
  const isWarmedUp = plan.precision.warmupMs > 0;
  const countsFromFirst = !isWarmedUp || turns !== undefined || sliceMs >= longSliceMs;
  const uncounted = countsFromFirst ? 0 : uncountedBlocks;
  if (isWarmedUp) await turns?.measure(servers, random, measured, uncountedPasses);
  const { blocks } = plan.precision;
  const isMissing = ({ name }: Server): boolean =>
    !observations.skipped.has(name) &&
    !observations.slices.some((s) => s.restart === restart.number && s.variant === name);
  const hasNext = (block: number): boolean =>
    block <= blocks || (block <= blocks + maxExtraBlocks && servers.some(isMissing));
  for (let block = 1 - uncounted; hasNext(block); block++) {
    const running = servers.filter(({ name }) => !observations.skipped.has(name));
    const taken = await turns?.measure(running, random, measured, plan.precision.passes);
    for (const server of shuffled(running, random)) {
      if (observations.skipped.has(server.name)) continue;
      restart.signal.throwIfAborted();
      const slice = await measured(() => measureSlice(server, { ...restart, sliceMs }));
      keep(restart, block, server, { slice, turns: taken?.get(server.name) });
    }
  }
  for (const server of servers.filter(isMissing)) {
    disqualify(server, 'answered nothing', plan, observations);
  }
}

/** Records a slice. Blocks before the first are not counted, but a fault in them is. */
function keep(
  { plan, observations, listener, number: restart }: Restart,
  block: number,
  server: Server,
  { slice, turns }: { slice: MeasuredSlice; turns: Turn[] | undefined },
): void {
  const { name: variant } = server;
  if (slice !== 'void' && 'fault' in slice) {
    disqualify(server, slice.fault, plan, observations);
  } else if (block < 1) {
    return;
  } else if (slice === 'void' || turns?.length === 0) {
    observations.voidSlices.push({ restart, block, variant });
  } else {
    const more = turns === undefined ? {} : { turns };
    observations.slices.push({ restart, block, variant, ...slice, ...more });
    listener.measured(observations.slices, restart, block);
  }
}

/** Skips a variant that fails under load, which says nothing about speed; a failing baseline ends the run. */
function disqualify(server: Server, fault: string, plan: Plan, observations: Observations): void {
  if (server.name === plan.baseline || server.name === controlName(plan.baseline)) {
    throw new LabError('ERR_REDLINE_LOAD', `The baseline "${plan.baseline}" ${fault} under load.`);
  }
  observations.skipped.set(server.name, `${fault} under load`);
  observations.slices = observations.slices.filter(({ variant }) => variant !== server.name);
}

async function measureLatency({
  plan,
  servers,
  observations,
  listener,
  number: restart,
  random,
  signal,
}: Restart): Promise<void> {
  observations.openLoopRps ||= chooseOpenLoopRps(observations.slices);
  for (const server of shuffled(servers, random)) {
    if (observations.skipped.has(server.name)) continue;
    signal.throwIfAborted();
    observations.memory.push({ restart, variant: server.name, rssMiB: readRssMiB(server.pid) });
    listener.phase('latency', restart, server.name);
    const outcome = await runOpenLoop(
      {
        host: server.host,
        port: server.port,
        requests: withSession(server, plan.requests),
        connections: plan.connections,
        requestsPerSecond: observations.openLoopRps,
        burst: plan.burst,
        durationMs: plan.precision.latencyMs,
        // Without pinning, the sender would take the server's own core.
        isExact: plan.exactSends && server.launcher.length > 0,
      },
      signal,
    );
    server.dropOutput();
    if (server.hasEnded) throw await server.failure('ended while its latency was measured');
    // Slower than the open loop is long: its latency is not measured, and a warning says so.
    if (outcome.answered === 0) continue;
    observations.latencies.push({ restart, variant: server.name, outcome });
  }
}

/**
 * A rate that the sender of the open loop easily sustains on one core. Above it, its own queue would dominate the
 * latency.
 */
const maxOpenLoopRps = 8_000;

/** Chooses half the rate of the slowest, which all can sustain, so that all are measured at the same rate. */
function chooseOpenLoopRps(slices: readonly Slice[]): number {
  const totals = new Map<string, { requests: number; seconds: number }>();
  for (const { variant, requests, seconds } of slices) {
    const total = totals.get(variant) ?? { requests: 0, seconds: 0 };
    totals.set(variant, { requests: total.requests + requests, seconds: total.seconds + seconds });
  }
  const slowest = Math.min(...[...totals.values()].map((t) => t.requests / t.seconds));
  const half = Math.min(Math.max(1, slowest / 2), maxOpenLoopRps);
  const digit = 10 ** Math.max(0, Math.floor(Math.log10(half)) - 1);
  return Math.max(1, Math.floor(half / digit) * digit);
}
