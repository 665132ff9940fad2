import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Plan, PlannedVariant } from '../config/resolve-plan.ts';
import type { MachineFacts } from '../figures.ts';
import type { TiersDuring } from './call-tree.ts';
import { type Bailout, CodeTrace } from './v8/code-trace.ts';
import { checkCpuProfile, type CpuProfile } from './cpu-profile.ts';
import type { InspectorSession } from './inspector.ts';
import {
  codeTraceFile,
  dumpFile,
  dumpFlags,
  findLog,
  inspectNode,
  logFlags,
  type NodeFacts,
  withNodeFlags,
  withPreloads,
} from './instrument.ts';
import { type CompiledCode, parseJitDump } from './v8/jit-dump.ts';
import { jsonFramesFile, withJsonFrames } from './json-frames.ts';
import type { ProfiledThread } from './profiled-thread.ts';
import {
  type LoadFigures,
  type RecordOptions,
  runMeasuredLoad,
  serve,
  type Served,
  warmUp,
  warningsOf,
} from './serve.ts';
import {
  findServingThread,
  inspectedPreload,
  inspectorsFile,
  inspectorsName,
  type ServingThread,
  shareOf,
  type ThreadId,
} from './serving-thread.ts';
import { untilGone } from '../servers/until-idle.ts';
import type { ThreadTimes } from '../system/cpu-clock.ts';
import { type CodeEvent, readLog } from './v8/v8-log.ts';

/** One server under load, and everything V8 reports about it. */
export interface Recording {
  profile: CpuProfile;
  /** V8's log; empty when none is available. */
  events: CodeEvent[];
  /** The profile's start on the clock of the log; undefined if the log has no times (Node 8). */
  startMicros: number | undefined;
  /** Likewise start and end of the load that is only logged, if there is one. */
  loggedFromMicros: number | undefined;
  loggedToMicros: number | undefined;
  /** V8's work during the profile, on the profile's clock; undefined if V8 does not report it. */
  during: TiersDuring | undefined;
  node: NodeFacts;
  load: LoadFigures;
  /** Undefined if no other thread of the server runs JavaScript. */
  profiled: ProfiledThread | undefined;
  machine: MachineFacts;
  /** Warnings to read before believing a figure. */
  warnings: string[];
}

/** A process that ends at all does so within this time. */
const endMs = 2_000;

/** Name of a function that the inspector runs right before the profile begins: the log shows its time on its own clock. */
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
  const inFolder = (folder: string): PlannedVariant => {
    const flags = [
      ...logFlags(node, folder),
      ...(options.followTiers ? dumpFlags(node, folder) : []),
      '--inspect=127.0.0.1:0',
    ];
    const preloads = options.followTiers ? [inspectedPreload, jsonFramesFile] : [inspectedPreload];
    return withNodeFlags(
      withPreloads(variant, preloads, { [inspectorsName]: inspectorsFile(folder) }),
      flags,
    );
  };
  return serve({ plan, variant, inFolder }, options, async (served) => {
    const { folder, machine } = served;
    const trace = new CodeTrace(codeTraceFile(folder));
    const { began, thread, warnings, ...taken } = await profileUnderLoad(served, trace, options);
    options.phase('reading the log');
    const file = await findLog(folder, markName);
    const events = file === undefined ? [] : await readLog(file);
    return {
      ...taken,
      events,
      during: tiersDuring(await readDump(folder, thread), trace.bailouts, began),
      startMicros: timeOfMark(events, markName),
      loggedFromMicros: timeOfMark(events, loggedFromName),
      loggedToMicros: timeOfMark(events, loggedToName),
      node,
      machine,
      warnings: [
        ...warnings,
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
): Promise<
  Pick<Recording, 'profile' | 'load' | 'profiled' | 'warnings'> & { began: Span; thread: ThreadId }
> {
  const { samplingMicros, durationMs, loggedMs = 0, signal, phase } = options;
  const { server } = served;
  using thread = await findServingThread(served, {
    load: () => warmUp(served, options),
    signal,
  });
  const { session: inspector, alike: threads } = thread;
  let logged: LoadFigures | undefined;
  if (loggedMs > 0) {
    phase('under load');
    await mark(inspector, loggedFromName);
    // Marked before connections close, because that makes Node lose code, once for every load.
    const beforeEnd = (): Promise<void> => mark(inspector, loggedToName);
    logged = await runMeasuredLoad(served, { durationMs: loggedMs, signal, beforeEnd, threads });
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
    profiled = await runMeasuredLoad(served, { durationMs, signal, threads });
  } finally {
    await trace.stop();
  }
  phase('fetching the profile');
  const { profile } = await inspector.ask<{ profile: unknown }>('Profiler.stop');
  // A process ended by a signal leaves the end of V8's log unwritten.
  thread.endProcess();
  // At its exit, Node waits for connected inspectors.
  thread[Symbol.dispose]();
  await (thread.pid === server.pid ? server.ended(endMs) : untilGone(thread.pid, endMs));
  return {
    began,
    thread,
    profile: withJsonFrames(checkCpuProfile(profile, `The profile of "${server.name}"`)),
    load: logged ?? profiled,
    profiled: describe(thread, profiled.spent),
    warnings: thread.warnings,
  };
}

interface Span {
  fromMicros: number;
  toMicros: number;
}

/** Reads the clock of a CPU profile and of V8's dump of its code. */
function monotonicMicros(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}

/** Returns undefined if no other thread runs JavaScript. */
function describe(thread: ServingThread, spent: ThreadTimes): ProfiledThread | undefined {
  const { kind, pid, script, processes, threads } = thread;
  if (processes === 1 && threads === 1) return undefined;
  return {
    kind,
    pid,
    ...(script === undefined ? {} : { script: basename(script) }),
    processes,
    threads,
    share: shareOf(thread, spent),
  };
}

/** Reads V8's dump; empty if it is missing: on another system, or if the temporary folder must not be executed. */
async function readDump(folder: string, { pid, tid }: ThreadId): Promise<CompiledCode[]> {
  try {
    return parseJitDump(await readFile(dumpFile(folder, pid)), tid);
  } catch {
    return [];
  }
}

/** Separates existing code from later code: while a profile begins, V8 lists all code that exists. */
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

async function mark(inspector: InspectorSession, name: string): Promise<void> {
  await inspector.ask('Runtime.evaluate', { expression: `(function ${name}(){})()` });
}

function timeOfMark(events: readonly CodeEvent[], name: string): number | undefined {
  const found = events.find((event) => event.type === 'created' && event.name === name) as
    | { micros: number }
    | undefined;
  return found === undefined || found.micros < 0 ? undefined : found.micros;
}
