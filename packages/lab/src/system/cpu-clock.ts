import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** CPU time a server has used since it started, in microseconds of user and system time. */
export interface CpuReading {
  totalMicros: number;
  /** Undefined if the system does not distinguish threads. */
  mainThreadMicros: number | undefined;
  /** Time of all processes that have ended and were waited for. Undefined if the system does not report it. */
  endedMicros: number | undefined;
  /** Process id → its own time, without children. Undefined if the system does not report it. */
  byProcess: Map<number, number> | undefined;
}

/** CPU time between two readings. */
export interface CpuSpan {
  totalMicros: number;
  mainThreadMicros: number | undefined;
  /** Time of the server's child processes that ended in between, in steps of 10 ms. */
  endedMicros: number | undefined;
}

/** Unit of /proc/PID/stat. */
const tickMicros = 10_000;

/**
 * Counts processes that were alive in both readings, and separately those that ended. A process that lives for a millisecond is in
 * a reading by chance: counted with the server it would be noise, and its time is in the other figure anyway.
 */
export function cpuBetween(before: CpuReading, after: CpuReading): CpuSpan {
  let totalMicros = after.totalMicros - before.totalMicros;
  if (before.byProcess && after.byProcess) {
    totalMicros = 0;
    for (const [pid, micros] of after.byProcess) {
      totalMicros += micros - (before.byProcess.get(pid) ?? micros);
    }
  }
  return {
    totalMicros,
    mainThreadMicros:
      after.mainThreadMicros === undefined
        ? undefined
        : after.mainThreadMicros - before.mainThreadMicros!,
    endedMicros:
      after.endedMicros === undefined ? undefined : after.endedMicros - before.endedMicros!,
  };
}

/** Reads the server and all its descendants: a cluster is charged for its workers. */
export function readCpu(pid: number): CpuReading {
  return process.platform === 'linux' ? readFromProc(pid) : readFromPs(pid);
}

/** Reads the resident memory of the server and its descendants, in MiB. */
export function readRssMiB(pid: number): number {
  if (process.platform !== 'linux') return Number(ps('rss', pid)) / 1024;
  const kibibytes = processTree(pid).map((member) => {
    const status = readOrEmpty(`/proc/${member}/status`);
    return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  });
  return kibibytes.reduce((sum, each) => sum + each, 0) / 1024;
}

function readFromProc(pid: number): CpuReading {
  const byProcess = new Map<number, number>();
  let endedMicros = 0;
  for (const member of processTree(pid)) {
    let nanos = 0;
    for (const thread of threadsOf(member)) nanos += onCpuNanos(member, thread);
    byProcess.set(member, nanos / 1_000);
    endedMicros += waitedForMicros(member);
  }
  return {
    totalMicros: [...byProcess.values()].reduce((sum, each) => sum + each, 0),
    mainThreadMicros: onCpuNanos(pid, pid) / 1_000,
    endedMicros,
    byProcess,
  };
}

/** Reads cutime and cstime, the 16th and 17th field; the 2nd is a name in brackets that may contain any character. */
function waitedForMicros(pid: number): number {
  const stat = readOrEmpty(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) * tickMicros;
}

/** CPU of threads of a server and its descendants. */
export interface ThreadsReading {
  /** Process id → CPU of these threads, in µs. */
  byProcess: Map<number, number>;
  /** True if one of the threads runs or waits for a core. */
  isRunnable: boolean;
}

/** Reads the main thread of each process, and all threads (Linux). */
export function readThreads(pid: number): Record<'main' | 'all', ThreadsReading> {
  const members = processTree(pid);
  const readingOf = (threads: (member: number) => number[]): ThreadsReading => ({
    byProcess: new Map(
      members.map((member) => {
        const nanos = threads(member).map((thread) => onCpuNanos(member, thread));
        return [member, nanos.reduce((sum, each) => sum + each, 0) / 1_000];
      }),
    ),
    isRunnable: members.some((member) =>
      threads(member).some((thread) => isThreadRunnable(member, thread)),
    ),
  });
  return { main: readingOf((member) => [member]), all: readingOf(threadsOf) };
}

/** Process id → thread id → its CPU, in µs, for a server and its descendants (Linux; empty elsewhere). */
export type ThreadTimes = Map<number, Map<number, number>>;

export function readThreadTimes(pid: number): ThreadTimes {
  if (process.platform !== 'linux') return new Map();
  return new Map(
    processTree(pid).map((member) => [
      member,
      new Map(threadsOf(member).map((thread) => [thread, onCpuNanos(member, thread) / 1_000])),
    ]),
  );
}

/** Returns the CPU of each thread of the second reading since the first. */
export function threadTimesBetween(before: ThreadTimes, after: ThreadTimes): ThreadTimes {
  return new Map(
    [...after].map(([pid, threads]) => [
      pid,
      new Map(
        [...threads].map(([tid, micros]) => [tid, micros - (before.get(pid)?.get(tid) ?? 0)]),
      ),
    ]),
  );
}

/**
 * Returns the time that the main threads of a process and its descendants were ready to run without a core, since they started, in
 * microseconds; 0 if the system does not report it. Under `npm start`, the app is a descendant.
 */
export function waitedForCoreMicros(pid: number): number {
  if (process.platform !== 'linux') return 0;
  return processTree(pid).reduce((sum, member) => sum + mainThreadWaitedMicros(member), 0);
}

/** Returns the same for a single process. */
export function mainThreadWaitedMicros(pid: number): number {
  const waited = readOrEmpty(`/proc/${pid}/task/${pid}/schedstat`).split(' ')[1];
  return waited === undefined ? 0 : Number(waited) / 1_000;
}

/** Reads schedstat, which counts nanoseconds; /proc/PID/stat counts 10 ms ticks, a twentieth of a slice. */
function onCpuNanos(pid: number, thread: number): number {
  const schedstat = readOrEmpty(`/proc/${pid}/task/${thread}/schedstat`);
  return Number(schedstat.slice(0, schedstat.indexOf(' ')));
}

/** True if a thread of the process or of a descendant runs or waits for a core (Linux; false elsewhere). */
export function isRunnable(pid: number): boolean {
  return processTree(pid).some((member) =>
    threadsOf(member).some((thread) => isThreadRunnable(member, thread)),
  );
}

function isThreadRunnable(pid: number, thread: number): boolean {
  const stat = readOrEmpty(`/proc/${pid}/task/${thread}/stat`);
  return stat.charAt(stat.lastIndexOf(')') + 2) === 'R';
}

/** Returns the process and its running descendants (Linux; elsewhere only the process). */
export function processTree(pid: number): number[] {
  const children = threadsOf(pid).flatMap((thread) =>
    readOrEmpty(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  );
  return [pid, ...children.flatMap(processTree)];
}

function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [];
  }
}

/** Returns an empty string for a missing file: a process or thread may end between two reads of /proc. */
export function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

function readFromPs(pid: number): CpuReading {
  const parts = ps('cputime', pid).trim().split(/[:-]/).map(Number);
  const seconds = parts.reduce((sum, part) => sum * 60 + part, 0);
  return {
    totalMicros: seconds * 1e6,
    mainThreadMicros: undefined,
    endedMicros: undefined,
    byProcess: undefined,
  };
}

function ps(column: string, pid: number): string {
  return execFileSync('ps', ['-o', `${column}=`, '-p', String(pid)], { encoding: 'utf8' });
}
