import type { Plan, PlannedVariant } from '../config/resolve-plan.ts';
import { LabError } from '../errors.ts';
import { undiciGenerator } from '../load/undici.ts';
import type { LoadGenerator, LoadOutcome } from '../load/generator.ts';
import { findWrk } from '../load/wrk.ts';
import type { MachineFacts } from '../figures.ts';
import { maskSecrets } from '../secrets.ts';
import { checkContract, label, send } from '../servers/contract.ts';
import { cpuBetween, readCpu } from '../system/cpu-clock.ts';
import { distinctRequests } from '../servers/distinct-requests.ts';
import { readMachine } from '../system/machine.ts';
import type { Server } from '../servers/server.ts';
import { withServer } from '../servers/with-server.ts';
import { withNodeFlags } from './instrument.ts';
import { type FirstLook, inFlightWarning, suitPlan, untilDrained } from './suit-load.ts';

export interface RecordOptions {
  /** Load before the profile begins. */
  warmupMs: number;
  /** How long the profile takes. */
  durationMs: number;
  /**
   * Load between the warm-up and the profile, for what only V8's log shows: while a profile is taken, V8 writes nothing of
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
  /** CPU of the main thread per completed request; of all threads where the system does not distinguish them. */
  microsPerRequest: number;
}

/** What is profiled: a variant of a plan, with flags for its node. */
export interface Profiled {
  plan: Plan;
  variant: PlannedVariant;
  flagsFor: (folder: string) => string[];
}

/** A server that responds, and the load that suits it. */
export interface Served {
  server: Server;
  folder: string;
  machine: MachineFacts;
  plan: Plan;
  look: FirstLook;
}

/**
 * Starts one variant with flags for its node, checks its answers, does the work, and leaves nothing behind.
 * @throws {LabError} ERR_REDLINE_SERVER, ERR_REDLINE_CONTRACT, ERR_REDLINE_LOAD
 */
export function serve<Result>(
  { plan, variant, flagsFor }: Profiled,
  { signal, phase, durationMs }: RecordOptions,
  work: (served: Served) => Promise<Result>,
): Promise<Result> {
  const inFolder = (folder: string): PlannedVariant => withNodeFlags(variant, flagsFor(folder));
  const start = { plan, variant, inFolder };
  return withServer(start, { signal, phase }, async ({ server, folder, pinning }) => {
    phase('checking answers');
    await checkContract([server], distinctRequests(plan.requests));
    await plan.verify?.(server);
    server.pin();
    const suited = await suitPlan(server, plan, { durationMs, signal });
    return work({ ...suited, server, folder, machine: readMachine(pinning.description) });
  });
}

/** Warms the server up, and waits until it has finished what the load left behind. */
export async function warmUp(
  { server, plan, look }: Pick<Served, 'server' | 'plan' | 'look'>,
  { warmupMs, signal, phase }: Pick<RecordOptions, 'warmupMs' | 'signal' | 'phase'>,
): Promise<void> {
  if (warmupMs <= 0) return;
  phase('warming up');
  await runLoad(server, plan, generatorOf(), { durationMs: warmupMs, signal });
  await untilDrained(server, plan, look, signal);
  server.dropOutput();
}

interface Load {
  durationMs: number;
  signal: AbortSignal;
  beforeEnd?: () => Promise<void>;
}

/** A load that is profiled or logged, and what it cost. */
export async function loadThatCounts(
  { server, plan, look }: Pick<Served, 'server' | 'plan' | 'look'>,
  load: Load,
): Promise<LoadFigures> {
  const generator = generatorOf();
  const before = readCpu(server.pid);
  const outcome = await runLoad(server, plan, generator, load);
  const cpu = cpuBetween(before, readCpu(server.pid));
  await requireAnswers({ server, plan, look }, outcome);
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
  load: Load,
): Promise<LoadOutcome> {
  try {
    const { host, port } = server;
    const outcome = await generator.run({ ...plan, host, port, ...load });
    if (!server.hasEnded) return outcome;
  } catch (error) {
    load.signal.throwIfAborted();
    // A generator that meets a closed port fails before the exit of the server is known here.
    await server.ended(200);
    if (!server.hasEnded) throw error;
  }
  throw await server.failure('ended under the load');
}

async function requireAnswers(
  { server, plan, look }: Pick<Served, 'server' | 'plan' | 'look'>,
  { requests, badStatus, seconds }: LoadOutcome,
): Promise<void> {
  const { name } = server;
  if (requests === 0) {
    const each = Math.max(look.tookMs, look.cpuMs);
    throw new LabError(
      'ERR_REDLINE_LOAD',
      `"${name}" did not respond to any request in ${Math.round(seconds)} s under the load: by itself a request takes ${Math.round(each)} ms, and ${plan.connections} were sent at the same time. Choose fewer with --connections, or a longer --seconds.`,
    );
  }
  if (badStatus > requests / 2) {
    throw new LabError(
      'ERR_REDLINE_LOAD',
      `"${name}" answered ${badStatus} of ${requests} requests with a status outside 2xx and 3xx${await badAnswer(server, plan)}: the profile would show how it fails.`,
    );
  }
}

/** The generator counts, and keeps no response: one more request shows the status and what it says. */
async function badAnswer(server: Server, plan: Plan): Promise<string> {
  for (const request of distinctRequests(plan.requests).slice(0, 20)) {
    const answer = await send(server, request).catch(() => undefined);
    if (answer === undefined || (answer.status >= 200 && answer.status < 400)) continue;
    const start = maskSecrets(answer.body.toString('utf8', 0, 120))
      .replaceAll(/\s+/g, ' ')
      .trim();
    return `, such as ${label(request)} with ${answer.status}${start === '' ? '' : ` "${start}"`}`;
  }
  return '; by itself, each gets another';
}

/** What a reader must know before believing a figure. */
export function warningsOf(load: LoadFigures): string[] {
  const inFlight = inFlightWarning(load);
  return [
    ...(inFlight === undefined ? [] : [inFlight]),
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
