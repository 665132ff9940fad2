import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Plan, PlannedVariant } from '../config/resolve-plan.ts';
import type { SetupResult } from '../config/types.ts';
import { LabError } from '../errors.ts';
import { autocannonGenerator } from '../load/autocannon.ts';
import type { LoadGenerator, LoadOutcome } from '../load/generator.ts';
import { findWrk } from '../load/wrk.ts';
import type { MachineFacts } from '../result.ts';
import { checkContract } from '../run/contract.ts';
import { cpuBetween, readCpu } from '../run/cpu-clock.ts';
import { distinctRequests } from '../run/distinct-requests.ts';
import { readMachine } from '../run/machine.ts';
import { pinSelf } from '../run/pinning.ts';
import { choosePorts } from '../run/ports.ts';
import { Server } from '../run/server.ts';
import { checkCpuProfile, type CpuProfile } from './cpu-profile.ts';
import { Inspector } from './inspector.ts';
import { findLog, inspectNode, logFlags, type NodeFacts, withNodeFlags } from './instrument.ts';
import { type CodeEvent, readLog } from './v8-log.ts';

export interface RecordOptions {
  /** Load before the profile begins. */
  warmupMs: number;
  /** How long the profile takes. */
  durationMs: number;
  /** From one sample to the next. */
  samplingMicros: number;
  signal: AbortSignal;
  phase: (text: string) => void;
}

/** One server under load, and all V8 says of it. */
export interface Recording {
  profile: CpuProfile;
  /** V8's log; empty when there is none to be had. */
  events: CodeEvent[];
  /** The profile's start on the clock of the log; undefined where the log has none (Node 8). */
  startMicros: number | undefined;
  node: NodeFacts;
  load: LoadFigures;
  machine: MachineFacts;
  /** What a reader must know before believing a figure. */
  warnings: string[];
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

/** A function the inspector runs right before the profile begins: the log shows when that was on its own clock. */
const markName = 'redlineProfileBegins';

/**
 * Starts a variant, warms it up, and takes a CPU profile under load while V8 writes its log.
 * @throws {LabError} ERR_REDLINE_PROFILE, ERR_REDLINE_SERVER, ERR_REDLINE_CONTRACT, ERR_REDLINE_LOAD
 */
export async function record(
  plan: Plan,
  variant: PlannedVariant,
  options: RecordOptions,
): Promise<Recording> {
  const node = await inspectNode(variant);
  const pinning = pinSelf(plan.pin);
  const setup: SetupResult = (await plan.setup?.()) ?? {};
  const folder = await mkdtemp(join(tmpdir(), 'redline-profile-'));
  let server: Server | undefined;
  try {
    const reason = setup.skip?.[variant.name];
    if (reason !== undefined) {
      throw new LabError('ERR_REDLINE_LOAD', `"${variant.name}" cannot run here: ${reason}.`);
    }
    options.phase('starting');
    const flags = [...logFlags(node, folder), '--inspect=127.0.0.1:0'];
    const [port] = await choosePorts([variant]);
    server = new Server(withNodeFlags(variant, flags), variant.name, {
      port: port!,
      env: setup.env ?? {},
      pinning,
      folder,
    });
    await server.ready(plan.readyTimeoutMs, options.signal);
    options.phase('checking answers');
    await checkContract([server], distinctRequests(plan.requests));
    await plan.verify?.(server);
    server.pin();
    const generator = findWrk(1) ?? autocannonGenerator();
    const taken = await profileUnderLoad(server, plan, generator, options);
    options.phase('reading the log');
    const file = await findLog(folder, markName);
    const events = file === undefined ? [] : await readLog(file);
    return {
      ...taken,
      events,
      startMicros: timeOfMark(events),
      node,
      machine: readMachine(pinning.description),
      warnings: warningsOf(taken.load, events),
    };
  } finally {
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
    await setup.stop?.();
  }
}

async function profileUnderLoad(
  server: Server,
  plan: Plan,
  generator: LoadGenerator,
  { warmupMs, durationMs, samplingMicros, signal, phase }: RecordOptions,
): Promise<Pick<Recording, 'profile' | 'load'>> {
  const { port } = server;
  const load = (ms: number): Promise<LoadOutcome> =>
    generator.run({ ...plan, port, durationMs: ms, signal }).catch(async (error: unknown) => {
      throw server.hasEnded ? await server.failure('ended under the load') : error;
    });
  using inspector = await Inspector.attach(server, signal);
  if (warmupMs > 0) {
    phase('warming up');
    await load(warmupMs);
    server.dropOutput();
  }
  phase('profiling');
  await inspector.ask('Profiler.enable');
  await inspector.ask('Profiler.setSamplingInterval', { interval: samplingMicros });
  await inspector.ask('Runtime.evaluate', { expression: `(function ${markName}(){})()` });
  const before = readCpu(server.pid);
  await inspector.ask('Profiler.start');
  const outcome = await load(durationMs);
  const cpu = cpuBetween(before, readCpu(server.pid));
  if (server.hasEnded) throw await server.failure('ended under the load');
  phase('fetching the profile');
  const { profile } = await inspector.ask<{ profile: unknown }>('Profiler.stop');
  requireAnswers(server.name, outcome);
  // A process that dies of a signal leaves the end of V8's log unwritten. There is no reply to this.
  inspector.ask('Runtime.evaluate', { expression: 'process.reallyExit(0)' }).catch(() => {});
  await server.ended(2_000);
  return {
    profile: checkCpuProfile(profile, `The profile of "${server.name}"`),
    load: {
      ...outcome,
      generator: generator.name,
      connections: plan.connections,
      requestLabels:
        plan.requestLabel === undefined
          ? plan.requests.map(({ method, path }) => `${method} ${path}`)
          : [plan.requestLabel],
      serverBusy: cpu.totalMicros / 1e6 / outcome.seconds,
      microsPerRequest: (cpu.mainThreadMicros ?? cpu.totalMicros) / outcome.requests,
    },
  };
}

function requireAnswers(name: string, { requests, badStatus }: LoadOutcome): void {
  if (requests === 0) {
    throw new LabError('ERR_REDLINE_LOAD', `"${name}" answered nothing under the load.`);
  }
  if (badStatus > requests / 2) {
    throw new LabError(
      'ERR_REDLINE_LOAD',
      `"${name}" answered ${badStatus} of ${requests} requests with a status outside 2xx and 3xx: a profile of that shows how it fails.`,
    );
  }
}

function timeOfMark(events: readonly CodeEvent[]): number | undefined {
  const mark = events.find((event) => event.type === 'created' && event.name === markName) as
    | { micros: number }
    | undefined;
  return mark === undefined || mark.micros < 0 ? undefined : mark.micros;
}

function warningsOf(load: LoadFigures, events: readonly CodeEvent[]): string[] {
  return [
    ...(load.badStatus > 0
      ? [`${load.badStatus} of ${load.requests} requests were answered outside 2xx and 3xx.`]
      : []),
    ...(load.socketErrors > 0 ? [`${load.socketErrors} connections broke.`] : []),
    ...(load.serverBusy < 0.9
      ? [
          `The server used ${Math.round(load.serverBusy * 100)} % of a core: part of the time it waited, and the profile shows only what it did.`,
        ]
      : []),
    ...(events.length === 0 ? ['V8 wrote no log, so no tier is known.'] : []),
  ];
}
