import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Server } from '../servers/server.ts';
import { readThreadTimes, type ThreadTimes, threadTimesBetween } from '../system/cpu-clock.ts';
import { Inspector, type InspectorSession } from './inspector.ts';
import type { ThreadKind } from './profiled-thread.ts';

/** A thread by its numbers in the system: a main thread has the number of its process. */
export interface ThreadId {
  pid: number;
  tid: number;
}

/** A thread that runs JavaScript. */
interface ScriptThread extends ThreadId {
  session: InspectorSession;
  /** The inspector of its process. */
  inspector: Inspector;
  /** The script of a worker thread; undefined for a main thread. */
  script: string | undefined;
}

/** The thread to profile. */
export interface ServingThread extends ThreadId, Disposable {
  session: InspectorSession;
  kind: ThreadKind;
  /** The script of a worker thread. */
  script: string | undefined;
  /** Node processes, and the JavaScript threads in them. */
  processes: number;
  threads: number;
  /** Threads that serve like it, itself included: their total CPU is that of the requests. */
  alike: ThreadId[];
  /** Sentences about processes that cannot be profiled. */
  warnings: string[];
  /** Ends its process, so that V8 writes the rest of its logs. */
  endProcess(): void;
}

/** A preload that makes each Node program of a server write down the address of its inspector. */
export const inspectedPreload: string = fileURLToPath(
  new URL('../../preload/inspected.cjs', import.meta.url),
);

/** Environment variable that holds the name of the file for the addresses. */
export const inspectorsName = 'REDLINE_INSPECTORS';

/** Returns the file for the addresses. */
export function inspectorsFile(folder: string): string {
  return join(folder, 'inspectors');
}

interface Place {
  server: Server;
  folder: string;
}

/**
 * Finds the JavaScript thread of a server with the most CPU during `load`: the main thread of a process of a cluster, a worker
 * thread, or the main thread of the server itself, which it always is outside of Linux.
 * @returns to be disposed before waiting for the process: Node waits at its end for connected inspectors
 */
export async function findServingThread(
  place: Place,
  { load, signal }: { load: () => Promise<void>; signal: AbortSignal },
): Promise<ServingThread> {
  const { server } = place;
  const inspectors = [await Inspector.attach(server, signal)];
  const dispose = (): void => inspectors.forEach((each) => each[Symbol.dispose]());
  try {
    const before = readThreadTimes(server.pid);
    await load();
    const spent = threadTimesBetween(before, readThreadTimes(server.pid));
    const found = await scriptThreads(place, spent, { inspectors, signal });
    return { ...busiestOf(found, spent, server.pid), [Symbol.dispose]: dispose };
  } catch (error) {
    dispose();
    throw error;
  }
}

function busiestOf(
  { threads, processes, warnings }: Found,
  spent: ThreadTimes,
  serverPid: number,
): Omit<ServingThread, keyof Disposable> {
  const timeOf = ({ pid, tid }: ThreadId): number => spent.get(pid)?.get(tid) ?? 0;
  const [busiest] = threads.toSorted((a, b) => timeOf(b) - timeOf(a));
  const { pid, tid, session, inspector, script } = busiest!;
  return {
    pid,
    tid,
    session,
    kind: script !== undefined ? 'worker thread' : processes > 1 ? 'process' : 'main thread',
    script,
    processes,
    threads: threads.length,
    // The process that started the others does other work.
    alike: threads.filter(
      (each) =>
        each.script === script &&
        (script !== undefined || (each.pid === serverPid) === (pid === serverPid)),
    ),
    warnings,
    // The process exits before it responds.
    endProcess: () => void inspector.ask('Runtime.evaluate', exit).catch(() => {}),
  };
}

const exit = { expression: 'process.reallyExit(0)' };

interface Found {
  threads: ScriptThread[];
  processes: number;
  warnings: string[];
}

/** A Node process with a smaller share of the CPU is only counted. */
const minShare = 0.02;
/** A process that cannot be profiled causes a warning from this share of the CPU. */
const minUnreached = 0.3;

async function scriptThreads(
  { server, folder }: Place,
  spent: ThreadTimes,
  { inspectors, signal }: { inspectors: Inspector[]; signal: AbortSignal },
): Promise<Found> {
  const [main] = inspectors as [Inspector];
  const found: Found = {
    threads: await threadsOf(server.pid, main),
    processes: 1,
    warnings: [],
  };
  const urls = await readInspectors(folder);
  const whole = totalOf(spent) || 1;
  for (const [pid, times] of spent) {
    if (pid === server.pid) continue;
    const share = sumOf(times) / whole;
    const url = urls.get(pid);
    if (url === undefined) {
      if (share >= minUnreached) found.warnings.push(unreachedText(pid, share));
      continue;
    }
    found.processes++;
    if (share < minShare) continue;
    const inspector = await Inspector.connect(server, url, signal);
    inspectors.push(inspector);
    found.threads.push(...(await threadsOf(pid, inspector)));
  }
  return found;
}

/** Finds the thread's number in /proc, because Node's own number differs. */
const ownThread = {
  expression: `(() => {
  const fs = process.getBuiltinModule ? process.getBuiltinModule('fs') : require('fs');
  return fs.readlinkSync('/proc/thread-self');
})()`,
  includeCommandLineAPI: true,
};

async function threadsOf(pid: number, inspector: Inspector): Promise<ScriptThread[]> {
  const found: ScriptThread[] = [
    { pid, tid: pid, session: inspector, inspector, script: undefined },
  ];
  if (process.platform !== 'linux') return found;
  for (const session of await inspector.workers()) {
    const { result } = await session.ask<{ result: { value?: unknown } }>(
      'Runtime.evaluate',
      ownThread,
    );
    const tid = Number(/\/task\/(\d+)$/.exec(String(result.value))?.[1]);
    if (tid > 0) found.push({ pid, tid, session, inspector, script: session.url });
  }
  return found;
}

async function readInspectors(folder: string): Promise<Map<number, string>> {
  const text = await readFile(inspectorsFile(folder), 'utf8').catch(() => '');
  return new Map(
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => {
        const [pid, url] = line.split(' ');
        return [Number(pid), url!] as const;
      }),
  );
}

function unreachedText(pid: number, share: number): string {
  return `Process ${pid} of the server used ${Math.round(share * 100)} % of its CPU and cannot be profiled: it is not a Node program, or was started without the environment of its parent. The profile shows the busiest of the others.`;
}

/** Returns the share of a thread in the CPU of the server and its processes, 0 to 1. */
export function shareOf({ pid, tid }: ThreadId, spent: ThreadTimes): number {
  return (spent.get(pid)?.get(tid) ?? 0) / (totalOf(spent) || 1);
}

function totalOf(spent: ThreadTimes): number {
  return [...spent.values()].reduce((sum, times) => sum + sumOf(times), 0);
}

function sumOf(times: ReadonlyMap<number, number>): number {
  return [...times.values()].reduce((sum, micros) => sum + micros, 0);
}
