import { readFile } from 'node:fs/promises';
import type { Plan, PlannedVariant } from '../config/resolve-plan.ts';
import type { MachineFacts } from '../figures.ts';
import type { TiersDuring } from './call-tree.ts';
import { type Bailout, CodeTrace } from './code-trace.ts';
import { checkCpuProfile, type CpuProfile } from './cpu-profile.ts';
import { Inspector } from './inspector.ts';
import {
  codeTraceFile,
  dumpFile,
  dumpFlags,
  findLog,
  inspectNode,
  logFlags,
  type NodeFacts,
} from './instrument.ts';
import { type CompiledCode, parseJitDump } from './jit-dump.ts';
import {
  type LoadFigures,
  loadThatCounts,
  type RecordOptions,
  serve,
  type Served,
  warmUp,
  warningsOf,
} from './serve.ts';
import { type CodeEvent, readLog } from './v8-log.ts';

/** One server under load, and all V8 says of it. */
export interface Recording {
  profile: CpuProfile;
  /** V8's log; empty when none is available. */
  events: CodeEvent[];
  /** The profile's start on the clock of the log; undefined where the log has none (Node 8). */
  startMicros: number | undefined;
  /** Likewise the load that is only logged, where there is one. */
  loggedFromMicros: number | undefined;
  loggedToMicros: number | undefined;
  /** What V8 did meanwhile, on the profile's clock; undefined where it does not say. */
  during: TiersDuring | undefined;
  node: NodeFacts;
  load: LoadFigures;
  machine: MachineFacts;
  /** What a reader must know before believing a figure. */
  warnings: string[];
}

/** A function the inspector runs right before the profile begins: the log shows when that was on its own clock. */
const markName = 'redlineProfileBegins';
const loggedFromName = 'redlineLoggedLoadBegins';
const loggedToName = 'redlineLoggedLoadEnds';

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
  const flagsFor = (folder: string): string[] => [
    ...logFlags(node, folder),
    ...(options.followTiers ? dumpFlags(node, folder) : []),
    '--inspect=127.0.0.1:0',
  ];
  return serve({ plan, variant, flagsFor }, options, async (served) => {
    const { folder, machine } = served;
    const { pid } = served.server;
    const trace = new CodeTrace(codeTraceFile(folder));
    const { began, ...taken } = await profileUnderLoad(served, trace, options);
    options.phase('reading the log');
    const file = await findLog(folder, markName);
    const events = file === undefined ? [] : await readLog(file);
    return {
      ...taken,
      events,
      during: tiersDuring(await readDump(dumpFile(folder, pid)), trace.bailouts, began),
      startMicros: timeOfMark(events, markName),
      loggedFromMicros: timeOfMark(events, loggedFromName),
      loggedToMicros: timeOfMark(events, loggedToName),
      node,
      machine,
      warnings: [
        ...warningsOf(taken.load),
        ...(events.length === 0 ? ['V8 wrote no log, so no tier is known.'] : []),
      ],
    };
  });
}

async function profileUnderLoad(
  served: Served,
  trace: CodeTrace,
  options: RecordOptions,
): Promise<Pick<Recording, 'profile' | 'load'> & { began: Span }> {
  const { samplingMicros, durationMs, loggedMs = 0, signal, phase } = options;
  const { server } = served;
  using inspector = await Inspector.attach(server, signal);
  await warmUp(served, options);
  let logged: LoadFigures | undefined;
  if (loggedMs > 0) {
    phase('under load');
    await mark(inspector, loggedFromName);
    // Connections that close make Node lose code, once for every load there is.
    const beforeEnd = (): Promise<void> => mark(inspector, loggedToName);
    logged = await loadThatCounts(served, { durationMs: loggedMs, signal, beforeEnd });
  }
  phase('profiling');
  await inspector.ask('Profiler.enable');
  await inspector.ask('Profiler.setSamplingInterval', { interval: samplingMicros });
  await mark(inspector, markName);
  const fromMicros = monotonicMicros();
  await inspector.ask('Profiler.start');
  const began = { fromMicros, toMicros: monotonicMicros() };
  if (options.followTiers) trace.start();
  let profiled: LoadFigures;
  try {
    profiled = await loadThatCounts(served, { durationMs, signal });
  } finally {
    await trace.stop();
  }
  phase('fetching the profile');
  const { profile } = await inspector.ask<{ profile: unknown }>('Profiler.stop');
  // A process that dies of a signal leaves the end of V8's log unwritten. There is no reply to this.
  inspector.ask('Runtime.evaluate', { expression: 'process.reallyExit(0)' }).catch(() => {});
  // Node waits at its end for whoever is connected.
  inspector[Symbol.dispose]();
  await server.ended(2_000);
  return {
    began,
    profile: checkCpuProfile(profile, `The profile of "${server.name}"`),
    load: logged ?? profiled,
  };
}

interface Span {
  fromMicros: number;
  toMicros: number;
}

/** The clock of a CPU profile and of V8's dump of its code. */
function monotonicMicros(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}

/** Empty where there is none: on another system, or where the temporary folder must not be executed. */
async function readDump(file: string): Promise<CompiledCode[]> {
  try {
    return parseJitDump(await readFile(file));
  } catch {
    return [];
  }
}

/** While a profile begins, V8 lists all code there is. */
function tiersDuring(
  codes: readonly CompiledCode[],
  bailouts: readonly Bailout[],
  { fromMicros, toMicros }: Span,
): TiersDuring | undefined {
  const existing = codes.filter(({ micros }) => micros >= fromMicros && micros <= toMicros);
  if (existing.length === 0) return undefined;
  const later = codes.filter(({ micros }) => micros > toMicros);
  return {
    existing,
    changes: [...later, ...bailouts].toSorted((a, b) => a.micros - b.micros),
  };
}

async function mark(inspector: Inspector, name: string): Promise<void> {
  await inspector.ask('Runtime.evaluate', { expression: `(function ${name}(){})()` });
}

function timeOfMark(events: readonly CodeEvent[], name: string): number | undefined {
  const found = events.find((event) => event.type === 'created' && event.name === name) as
    | { micros: number }
    | undefined;
  return found === undefined || found.micros < 0 ? undefined : found.micros;
}
