import type { Plan, PlannedVariant } from '../config/resolve-plan.ts';
import { LabError } from '../errors.ts';
import { type LoadGenerator, type LoadOutcome, ownGenerator } from '../load/closed-loop.ts';
import { findWrk } from '../load/wrk.ts';
import type { MachineFacts } from '../figures.ts';
import { badAnswerText, findBadAnswer } from '../servers/bad-answer.ts';
import { checkContract, distinctRequests } from '../servers/contract.ts';
import {
  cpuBetween,
  readCpu,
  readThreadTimes,
  type ThreadTimes,
  threadTimesBetween,
} from '../system/cpu-clock.ts';
import { readMachine } from '../system/machine.ts';
import type { Server } from '../servers/server.ts';
import { withServer } from '../servers/with-server.ts';
import type { ThreadId } from './serving-thread.ts';
import {
  inFlightWarning,
  type RequestCost,
  untilDrained,
  withSuitableConnections,
} from './suitable-load.ts';

export interface RecordOptions {
  /** Load before the profile begins. */
  warmupMs: number;
  /** Length of the profile. */
  durationMs: number;
  /**
   * Load between the warm-up and the profile, for facts that only V8's log shows: while a profile is taken, V8 logs nothing that it
   * compiles or discards. The figures of the load are then those of this one.
   */
  loggedMs?: number;
  /** Follows the code that V8 makes and leaves while the profile is taken. */
  followTiers?: boolean;
  /** Time from one sample to the next. */
  samplingMicros: number;
  signal: AbortSignal;
  phase: (text: string) => void;
}

export interface LoadFigures extends LoadOutcome {
  generator: string;
  connections: number;
  requestLabels: string[];
  /** Share of one core the server used. */
  serverBusy: number;
  /** One of the responses outside 2xx and 3xx; absent if there were none. */
  badAnswer?: string;
  /** CPU of the serving threads per completed request; of all threads if the system has no figure by thread. */
  microsPerRequest: number;
  /** CPU of each thread during the load. */
  spent: ThreadTimes;
}

/** A variant to profile, and the variant to start instead of it, given a folder for files. */
export interface Profiled {
  plan: Plan;
  variant: PlannedVariant;
  inFolder: (folder: string) => PlannedVariant;
}

/** A server that responds, with a suitable load. */
export interface Served {
  server: Server;
  folder: string;
  machine: MachineFacts;
  plan: Plan;
  requestCost: RequestCost;
}

/**
 * Starts one variant with flags for its Node, checks its responses, does the work, and cleans up.
 * @throws {LabError} ERR_REDLINE_SERVER, ERR_REDLINE_CONTRACT, ERR_REDLINE_LOAD
 */
export function serve<Result>(
  { plan, variant, inFolder }: Profiled,
  { signal, phase, durationMs }: RecordOptions,
  work: (served: Served) => Promise<Result>,
): Promise<Result> {
  const start = { plan, variant, inFolder };
  return withServer(start, { signal, phase }, async ({ server, folder, pinning }) => {
    phase('checking answers');
    await checkContract([server], distinctRequests(plan.requests));
    await plan.verify?.(server);
    server.pin();
    const suited = await withSuitableConnections(server, plan, { durationMs, signal });
    return work({ ...suited, server, folder, machine: readMachine(pinning.description) });
  });
}

/** Warms the server up, and waits until it has finished the rest of the load. */
export async function warmUp(
  { server, plan, requestCost }: Pick<Served, 'server' | 'plan' | 'requestCost'>,
  { warmupMs, signal, phase }: Pick<RecordOptions, 'warmupMs' | 'signal' | 'phase'>,
): Promise<void> {
  if (warmupMs <= 0) return;
  phase('warming up');
  await runLoad(server, plan, generatorOf(), { durationMs: warmupMs, signal });
  await untilDrained(server, plan, requestCost, signal);
  server.dropOutput();
}

interface Load {
  durationMs: number;
  signal: AbortSignal;
  beforeEnd?: () => Promise<void>;
  /** Threads that serve the requests. @default the main thread of the server's process */
  threads?: readonly ThreadId[];
}

/** Runs a load that is profiled or logged, and measures its cost. */
export async function runMeasuredLoad(
  { server, plan, requestCost }: Pick<Served, 'server' | 'plan' | 'requestCost'>,
  { threads, ...load }: Load,
): Promise<LoadFigures> {
  const generator = generatorOf();
  const before = readCpu(server.pid);
  const threadsBefore = readThreadTimes(server.pid);
  const outcome = await runLoad(server, plan, generator, load);
  const cpu = cpuBetween(before, readCpu(server.pid));
  const spent = threadTimesBetween(threadsBefore, readThreadTimes(server.pid));
  const servingMicros =
    threads === undefined || spent.size === 0
      ? (cpu.mainThreadMicros ?? cpu.totalMicros)
      : threads.reduce((sum, { pid, tid }) => sum + (spent.get(pid)?.get(tid) ?? 0), 0);
  const badAnswer =
    outcome.badStatus > 0 ? badAnswerText(await findBadAnswer(server, plan)) : undefined;
  requireAnswers({ server, plan, requestCost }, { ...outcome, badAnswer });
  return {
    ...outcome,
    ...(badAnswer === undefined ? {} : { badAnswer }),
    generator: generator.name,
    connections: plan.connections,
    requestLabels:
      plan.requestLabel === undefined
        ? plan.requests.map(({ method, path }) => `${method} ${path}`)
        : [plan.requestLabel],
    serverBusy: cpu.totalMicros / 1e6 / outcome.seconds,
    microsPerRequest: servingMicros / outcome.requests,
    spent,
  };
}

function generatorOf(): LoadGenerator {
  return findWrk(1) ?? ownGenerator();
}

async function runLoad(
  server: Server,
  plan: Plan,
  generator: LoadGenerator,
  load: Load,
): Promise<LoadOutcome> {
  try {
    const { host, port } = server;
    const outcome = await generator.run({ ...plan, host, port, ...load });
    if (!server.hasEnded) return outcome;
  } catch (error) {
    load.signal.throwIfAborted();
    // A generator that meets a closed port fails before the server's exit is known here.
    await server.ended(200);
    if (!server.hasEnded) throw error;
  }
  throw await server.failure('ended under the load');
}

function requireAnswers(
  { server, plan, requestCost }: Pick<Served, 'server' | 'plan' | 'requestCost'>,
  { requests, badStatus, seconds, badAnswer }: LoadOutcome & { badAnswer: string | undefined },
): void {
  const { name } = server;
  if (requests === 0) {
    const each = Math.max(requestCost.tookMs, requestCost.cpuMs);
    throw new LabError(
      'ERR_REDLINE_LOAD',
      `"${name}" did not respond to any request in ${Math.round(seconds)} s under the load: by itself a request takes ${Math.round(each)} ms, and ${plan.connections} were sent at the same time. Choose fewer with --connections, or a longer --seconds.`,
    );
  }
  if (badStatus > requests / 2) {
    throw new LabError(
      'ERR_REDLINE_LOAD',
      `"${name}" answered ${badStatus} of ${requests} requests with a status outside 2xx and 3xx, ${badAnswer}: the profile would show how it fails.`,
    );
  }
}

export function badStatusWarning({ badStatus, requests, badAnswer }: LoadFigures): string {
  const which = badAnswer === undefined ? '' : `, ${badAnswer}`;
  return `${badStatus} of ${requests} requests had a status outside 2xx and 3xx${which}.`;
}

/** Returns the warnings to read before believing a figure. */
export function warningsOf(load: LoadFigures): string[] {
  const inFlight = inFlightWarning(load);
  return [
    ...(inFlight === undefined ? [] : [inFlight]),
    ...(load.badStatus > 0 ? [badStatusWarning(load)] : []),
    ...(load.socketErrors > 0 ? [`${load.socketErrors} connections broke.`] : []),
    ...(load.serverBusy < 0.9
      ? [
          `The server used ${Math.round(load.serverBusy * 100)} % of a core: the rest of the time it waited, or other processes had the core. The profile shows only what it ran.`,
        ]
      : []),
  ];
}
