import type { Plan } from '../config/resolve-plan.ts';
import type { SetupResult } from '../config/types.ts';
import { LabError } from '../errors.ts';
import { undiciGenerator } from '../load/undici.ts';
import type { LoadGenerator } from '../load/generator.ts';
import { runOpenLoop, type OpenLoopOutcome } from '../load/open-loop.ts';
import { findWrk } from '../load/wrk.ts';
import type { MachineFacts } from '../figures.ts';
import type { Slice } from './result.ts';
import { seededRandom, shuffled, type Random } from '../stats/random.ts';
import { startCanary } from '../servers/canary.ts';
import { checkContract } from '../servers/contract.ts';
import { readRssMiB } from '../system/cpu-clock.ts';
import { distinctRequests } from '../servers/distinct-requests.ts';
import { Fleet, type Contestant } from '../servers/fleet.ts';
import { readInterference, readMachine } from '../system/machine.ts';
import { inParallel } from '../system/in-parallel.ts';
import { measureSlice, sliceMsFor } from './measure-slice.ts';
import { pinSelf, type Pinning } from '../system/pinning.ts';
import type { Server } from '../servers/server.ts';
import { Turns } from './measure-turns.ts';
import { Undisturbed } from '../servers/undisturbed.ts';

/** wrk feeds several servers' worth of cores with one thread; more threads than that only contend. */
const mostGeneratorThreads = 4;

/**
 * Blocks after the warm-up that are not counted. While the others warm up, a server is idle and its heap is trimmed,
 * and its first slices pay for growing it again.
 */
const settlingBlocks = 2;
/** Turns settle a server sooner, and the lowest quarter of them takes no notice of the first few. */
const settlingPasses = 2;

/** The observations, before any statistics. */
export interface Observations {
  contestants: Contestant[];
  /** Variant name → why it was not measured. */
  skipped: Map<string, string>;
  slices: Slice[];
  /** Slices without any completed request; they are left out. */
  voidSlices: Pick<Slice, 'restart' | 'block' | 'variant'>[];
  /** One entry per contestant and restart. */
  latencies: { restart: number; variant: string; outcome: OpenLoopOutcome }[];
  memory: { restart: number; variant: string; rssMiB: number }[];
  generator: LoadGenerator;
  openLoopRps: number;
  machine: MachineFacts;
  throttledTimes: number;
  /**
   * Share of the measuring time that was waited out or repeated because something outside slowed down the server's
   * core.
   */
  disturbedShare: number;
}

export interface RunListener {
  /** Something that takes a moment begins. */
  phase(text: string, restart: number, variant?: string): void;
  /** A slice was measured. */
  measured(slices: readonly Slice[], restart: number, block: number): void;
}

/** Name of the baseline's second copy. */
export function controlName(baseline: string): string {
  return `${baseline} again`;
}

/**
 * Restarts × blocks: every restart starts all contestants, each block measures each of them once, in a new order. At
 * the end, or on abort, everything started has been stopped.
 * @param plans One for each group. They share the set-up, and run one after the other.
 */
export async function runBench(
  plans: readonly Plan[],
  listen: (plan: Plan) => RunListener,
  signal: AbortSignal,
): Promise<Observations[]> {
  const setup: SetupResult = (await plans[0]!.setup?.()) ?? {};
  try {
    const observed: Observations[] = [];
    for (const plan of plans) {
      const pinning = pinSelf(plan.pin);
      const before = readInterference();
      const observations = await observe(plan, setup, pinning, listen(plan), signal);
      const after = readInterference();
      if (before && after) {
        observations.machine.steal =
          (after.stealTicks - before.stealTicks) / Math.max(1, after.allTicks - before.allTicks);
        observations.throttledTimes = after.throttledTimes - before.throttledTimes;
      }
      observed.push(observations);
    }
    return observed;
  } finally {
    await setup.stop?.();
  }
}

async function observe(
  plan: Plan,
  setup: SetupResult,
  pinning: Pinning,
  listener: RunListener,
  signal: AbortSignal,
): Promise<Observations> {
  const random = seededRandom(plan.seed);
  const threads = Math.min(pinning.loadCoreCount, mostGeneratorThreads);
  const skipped = new Map(Object.entries(setup.skip ?? {}));
  const observations: Observations = {
    contestants: chooseContestants(plan, skipped),
    skipped,
    slices: [],
    voidSlices: [],
    latencies: [],
    memory: [],
    generator: findWrk(threads) ?? undiciGenerator(),
    openLoopRps: plan.openLoopRps ?? 0,
    machine: readMachine(pinning.description),
    throttledTimes: 0,
    disturbedShare: 0,
  };
  await using canary = await startCanary(pinning);
  const undisturbed = canary && new Undisturbed(() => canary.read(), signal);
  const fit = restartsThatFit(plan);
  for (let restart = 1; restart <= plan.precision.restarts; restart++) {
    signal.throwIfAborted();
    const running = observations.contestants.filter(({ name }) => !skipped.has(name));
    await using fleet = await Fleet.start(shuffled(running, random), plan, {
      env: setup.env ?? {},
      pinning,
      signal,
      onStart: (name) => listener.phase('starting', restart, name),
    });
    const slowestRps = await prepare(fleet, plan, observations, pinning, listener, restart, signal);
    {
      const { generator } = observations;
      await using turns = await Turns.start(fleet.servers, plan, generator, slowestRps, signal);
      const instruments = { turns, undisturbed, sliceMs: sliceMsFor(plan, slowestRps) };
      await measureBlocks(
        fleet,
        plan,
        instruments,
        observations,
        listener,
        restart,
        random,
        signal,
      );
    }
    await measureLatency(fleet, plan, observations, listener, restart, random, signal);
    plan.precision.restarts = fit(restart);
  }
  observations.disturbedShare = undisturbed?.lostShare ?? 0;
  return observations;
}

function chooseContestants(plan: Plan, skipped: Map<string, string>): Contestant[] {
  const reason = skipped.get(plan.baseline);
  if (reason !== undefined) {
    throw new LabError(
      'ERR_REDLINE_LOAD',
      `The baseline "${plan.baseline}" cannot run here (${reason}), and nothing can be compared without it.`,
    );
  }
  const baseline = plan.variants.find(({ name }) => name === plan.baseline)!;
  const contestants = plan.variants.map((variant) => ({ name: variant.name, variant }));
  const control = { name: controlName(plan.baseline), variant: baseline };
  if (baseline.port !== undefined) {
    skipped.set(
      control.name,
      `the baseline has a fixed port, so a second copy cannot run beside it`,
    );
  }
  return [...contestants, control];
}

/** Fewer say little of their own spread. */
const leastRestarts = 4;

/** As many restarts as the time of a plan allows, by what those so far have taken; at most as many as it asks for. */
function restartsThatFit({ until, precision: { restarts: most } }: Plan): (done: number) => number {
  const startedAt = Date.now();
  return (done) => {
    if (until === undefined) return most;
    const each = (Date.now() - startedAt) / done;
    const more = Math.floor((until - Date.now()) / each);
    return Math.min(most, Math.max(leastRestarts, done, done + more));
  };
}

/** @returns requests per second of the slowest, as far as the warm-up shows them */
async function prepare(
  fleet: Fleet,
  plan: Plan,
  observations: Observations,
  pinning: Pinning,
  listener: RunListener,
  restart: number,
  signal: AbortSignal,
): Promise<number | undefined> {
  listener.phase('checking answers', restart);
  const baselineFirst = fleet.servers.toSorted(
    (a, b) => Number(b.name === plan.baseline) - Number(a.name === plan.baseline),
  );
  await checkContract(baselineFirst, distinctRequests(plan.requests));
  if (restart === 1) for (const server of fleet.servers) await verify(server, plan);
  const slowestRps = await warmUp(fleet, plan, observations, pinning, listener, restart, signal);
  for (const server of fleet.servers) server.pin();
  return slowestRps;
}

/** On all cores, several at a time: here the compiler has to finish, no matter how fast. */
async function warmUp(
  fleet: Fleet,
  plan: Plan,
  { generator }: Observations,
  pinning: Pinning,
  listener: RunListener,
  restart: number,
  signal: AbortSignal,
): Promise<number | undefined> {
  if (plan.precision.warmupMs === 0) return undefined;
  const rates: number[] = [];
  await inParallel(fleet.servers, pinning.coreCount, async (server) => {
    signal.throwIfAborted();
    listener.phase('warming up', restart, server.name);
    const { requests, seconds } = await generator.run({
      ...plan,
      host: server.host,
      port: server.port,
      durationMs: plan.precision.warmupMs,
      signal,
    });
    server.dropOutput();
    // A server without any response is left out later, and says nothing about the others.
    if (requests > 0) rates.push(requests / seconds);
  });
  return rates.length === 0 ? undefined : Math.min(...rates);
}

async function verify(server: Server, plan: Plan): Promise<void> {
  try {
    await plan.verify?.(server);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new LabError('ERR_REDLINE_CONTRACT', `"${server.name}" failed its check: ${reason}`, {
      cause,
    });
  }
}

async function measureBlocks(
  fleet: Fleet,
  plan: Plan,
  {
    turns,
    undisturbed,
    sliceMs,
  }: { turns: Turns | undefined; undisturbed: Undisturbed | undefined; sliceMs: number },
  observations: Observations,
  listener: RunListener,
  restart: number,
  random: Random,
  signal: AbortSignal,
): Promise<void> {
  const measured = <Result>(work: () => Promise<Result>): Promise<Result> =>
    undisturbed === undefined ? work() : undisturbed.measure(work);
  const isWarmedUp = plan.precision.warmupMs > 0;
  const uncounted = isWarmedUp && turns === undefined ? settlingBlocks : 0;
  if (isWarmedUp) await turns?.measure(fleet.servers, random, measured, settlingPasses);
  for (let block = 1 - uncounted; block <= plan.precision.blocks; block++) {
    const running = fleet.servers.filter(({ name }) => !observations.skipped.has(name));
    const taken = await turns?.measure(running, random, measured);
    for (const server of shuffled(running, random)) {
      if (observations.skipped.has(server.name)) continue;
      signal.throwIfAborted();
      const own = taken?.get(server.name);
      const slice = await measured(() =>
        measureSlice(server, plan, observations.generator, sliceMs, signal),
      );
      if (slice !== 'void' && 'fault' in slice) {
        disqualify(server, slice.fault, plan, observations);
      } else if (block < 1) {
        continue;
      } else if (slice === 'void' || own?.length === 0) {
        observations.voidSlices.push({ restart, block, variant: server.name });
      } else {
        const { name: variant } = server;
        const more = own === undefined ? {} : { turns: own };
        observations.slices.push({ restart, block, variant, ...slice, ...more });
        listener.measured(observations.slices, restart, block);
      }
    }
  }
  const answered = new Set(
    observations.slices.filter((s) => s.restart === restart).map((s) => s.variant),
  );
  for (const server of fleet.servers) {
    if (!answered.has(server.name) && !observations.skipped.has(server.name)) {
      disqualify(server, 'answered nothing', plan, observations);
    }
  }
}

/** A variant that fails under load says nothing about speed; a failing baseline ends the run. */
function disqualify(server: Server, fault: string, plan: Plan, observations: Observations): void {
  if (server.name === plan.baseline || server.name === controlName(plan.baseline)) {
    throw new LabError('ERR_REDLINE_LOAD', `The baseline "${plan.baseline}" ${fault} under load.`);
  }
  observations.skipped.set(server.name, `${fault} under load`);
  observations.slices = observations.slices.filter(({ variant }) => variant !== server.name);
}

async function measureLatency(
  fleet: Fleet,
  plan: Plan,
  observations: Observations,
  listener: RunListener,
  restart: number,
  random: Random,
  signal: AbortSignal,
): Promise<void> {
  observations.openLoopRps ||= chooseOpenLoopRps(observations.slices);
  for (const server of shuffled(fleet.servers, random)) {
    if (observations.skipped.has(server.name)) continue;
    signal.throwIfAborted();
    observations.memory.push({ restart, variant: server.name, rssMiB: readRssMiB(server.pid) });
    listener.phase('latency', restart, server.name);
    const outcome = await runOpenLoop(
      {
        host: server.host,
        port: server.port,
        requests: plan.requests,
        connections: plan.connections,
        requestsPerSecond: observations.openLoopRps,
        burst: plan.burst,
        durationMs: plan.precision.latencyMs,
        // Where nothing is pinned it would take the server's own core.
        isExact: plan.exactSends && server.launcher.length > 0,
      },
      signal,
    );
    server.dropOutput();
    if (outcome.answered === 0) {
      throw await server.failure(`did not respond to any request of the open loop`);
    }
    observations.latencies.push({ restart, variant: server.name, outcome });
  }
}

/**
 * A rate that the sender of the open loop easily sustains on one core. Above it, its own queue would dominate the
 * latency.
 */
const mostOpenLoopRps = 8_000;

/** Half the rate of the slowest: one that all can sustain, so that all are measured at the same rate. */
function chooseOpenLoopRps(slices: readonly Slice[]): number {
  const totals = new Map<string, { requests: number; seconds: number }>();
  for (const { variant, requests, seconds } of slices) {
    const total = totals.get(variant) ?? { requests: 0, seconds: 0 };
    totals.set(variant, { requests: total.requests + requests, seconds: total.seconds + seconds });
  }
  const slowest = Math.min(...[...totals.values()].map((t) => t.requests / t.seconds));
  const half = Math.min(Math.max(1, slowest / 2), mostOpenLoopRps);
  const digit = 10 ** Math.max(0, Math.floor(Math.log10(half)) - 1);
  return Math.max(1, Math.floor(half / digit) * digit);
}
