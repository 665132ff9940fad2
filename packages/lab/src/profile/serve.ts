import type { Plan, PlannedVariant } from '../config/resolve-plan.ts';
import { LabError } from '../errors.ts';
import { undiciGenerator } from '../load/undici.ts';
import type { LoadGenerator, LoadOutcome } from '../load/generator.ts';
import { findWrk } from '../load/wrk.ts';
import type { MachineFacts } from '../figures.ts';
import { checkContract } from '../servers/contract.ts';
import { cpuBetween, readCpu } from '../system/cpu-clock.ts';
import { distinctRequests } from '../servers/distinct-requests.ts';
import { readMachine } from '../system/machine.ts';
import type { Server } from '../servers/server.ts';
import { withServer } from '../servers/with-server.ts';
import { withNodeFlags } from './instrument.ts';

export interface RecordOptions {
  /** Load before the profile begins. */
  warmupMs: number;
  /** How long the profile takes. */
  durationMs: number;
  /**
   * Load between the warm-up and the profile, for what only V8's log tells: while a profile is taken, V8 writes nothing of
   * what it compiles or discards. The figures of the load are then those of this one.
   */
  loggedMs?: number;
  /** Follow what V8 makes and leaves while the profile is taken. */
  followTiers?: boolean;
  /** From one sample to the next. */
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
  /** CPU of the main thread per completed request; of all threads where the system does not tell them apart. */
  microsPerRequest: number;
}

/**
 * Starts one variant with flags for its node, checks its answers, does the work, and leaves nothing behind.
 * @throws {LabError} ERR_REDLINE_SERVER, ERR_REDLINE_CONTRACT, ERR_REDLINE_LOAD
 */
export function serve<Result>(
  plan: Plan,
  variant: PlannedVariant,
  flagsFor: (folder: string) => string[],
  { signal, phase }: RecordOptions,
  work: (server: Server, folder: string, machine: MachineFacts) => Promise<Result>,
): Promise<Result> {
  return withServer(
    plan,
    variant,
    { signal, phase },
    async ({ server, folder, pinning }) => {
      phase('checking answers');
      await checkContract([server], distinctRequests(plan.requests));
      await plan.verify?.(server);
      server.pin();
      return work(server, folder, readMachine(pinning.description));
    },
    (folder) => withNodeFlags(variant, flagsFor(folder)),
  );
}

export async function warmUp(
  server: Server,
  plan: Plan,
  { warmupMs, signal, phase }: RecordOptions,
): Promise<void> {
  if (warmupMs <= 0) return;
  phase('warming up');
  await runLoad(server, plan, generatorOf(), warmupMs, signal);
  server.dropOutput();
}

/** A load that is profiled or logged, and what it cost. */
export async function loadThatCounts(
  server: Server,
  plan: Plan,
  durationMs: number,
  signal: AbortSignal,
  beforeEnd?: () => Promise<void>,
): Promise<LoadFigures> {
  const generator = generatorOf();
  const before = readCpu(server.pid);
  const outcome = await runLoad(server, plan, generator, durationMs, signal, beforeEnd);
  const cpu = cpuBetween(before, readCpu(server.pid));
  requireAnswers(server.name, outcome);
  return {
    ...outcome,
    generator: generator.name,
    connections: plan.connections,
    requestLabels:
      plan.requestLabel === undefined
        ? plan.requests.map(({ method, path }) => `${method} ${path}`)
        : [plan.requestLabel],
    serverBusy: cpu.totalMicros / 1e6 / outcome.seconds,
    microsPerRequest: (cpu.mainThreadMicros ?? cpu.totalMicros) / outcome.requests,
  };
}

function generatorOf(): LoadGenerator {
  return findWrk(1) ?? undiciGenerator();
}

async function runLoad(
  server: Server,
  plan: Plan,
  generator: LoadGenerator,
  durationMs: number,
  signal: AbortSignal,
  beforeEnd?: () => Promise<void>,
): Promise<LoadOutcome> {
  try {
    const { host, port } = server;
    const hook = beforeEnd === undefined ? {} : { beforeEnd };
    const outcome = await generator.run({ ...plan, host, port, durationMs, signal, ...hook });
    if (!server.hasEnded) return outcome;
  } catch (error) {
    signal.throwIfAborted();
    // A generator that meets a closed port fails before the exit of the server is known here.
    await server.ended(200);
    if (!server.hasEnded) throw error;
  }
  throw await server.failure('ended under the load');
}

function requireAnswers(name: string, { requests, badStatus }: LoadOutcome): void {
  if (requests === 0) {
    throw new LabError(
      'ERR_REDLINE_LOAD',
      `"${name}" did not respond to any request under the load.`,
    );
  }
  if (badStatus > requests / 2) {
    throw new LabError(
      'ERR_REDLINE_LOAD',
      `"${name}" answered ${badStatus} of ${requests} requests with a status outside 2xx and 3xx: the profile would show how it fails.`,
    );
  }
}

/** What a reader must know before believing a figure. */
export function warningsOf(load: LoadFigures): string[] {
  return [
    ...(load.badStatus > 0
      ? [`${load.badStatus} of ${load.requests} requests had a status outside 2xx and 3xx.`]
      : []),
    ...(load.socketErrors > 0 ? [`${load.socketErrors} connections broke.`] : []),
    ...(load.serverBusy < 0.9
      ? [
          `The server used ${Math.round(load.serverBusy * 100)} % of a core: the rest of the time it waited, or other processes had the core. The profile shows only what it ran.`,
        ]
      : []),
  ];
}
