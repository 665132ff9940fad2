import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** CPU time a server has used since it started, in microseconds of user and system time. */
export interface CpuReading {
  totalMicros: number;
  /** Undefined where the system does not tell threads apart. */
  mainThreadMicros: number | undefined;
}

/** Reads the server and every process it has started: a cluster is charged for its workers. */
export function readCpu(pid: number): CpuReading {
  return process.platform === 'linux' ? readFromProc(pid) : readFromPs(pid);
}

/** Resident memory of the server and the processes it has started, in MiB. */
export function readRssMiB(pid: number): number {
  if (process.platform !== 'linux') return Number(ps('rss', pid)) / 1024;
  const kibibytes = processTree(pid).map((member) => {
    const status = readOrEmpty(`/proc/${member}/status`);
    return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  });
  return kibibytes.reduce((sum, each) => sum + each, 0) / 1024;
}

function readFromProc(pid: number): CpuReading {
  let totalNanos = 0;
  for (const member of processTree(pid)) {
    for (const thread of threadsOf(member)) totalNanos += onCpuNanos(member, thread);
  }
  return { totalMicros: totalNanos / 1_000, mainThreadMicros: onCpuNanos(pid, pid) / 1_000 };
}

/** schedstat counts nanoseconds; /proc/PID/stat counts 10 ms ticks, a twentieth of a slice. */
function onCpuNanos(pid: number, thread: number): number {
  const schedstat = readOrEmpty(`/proc/${pid}/task/${thread}/schedstat`);
  return Number(schedstat.slice(0, schedstat.indexOf(' ')));
}

/** The process and all it has started that still run (Linux; elsewhere the process alone). */
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

/** A process or thread may end between two looks at /proc. */
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
  return { totalMicros: seconds * 1e6, mainThreadMicros: undefined };
}

function ps(column: string, pid: number): string {
  return execFileSync('ps', ['-o', `${column}=`, '-p', String(pid)], { encoding: 'utf8' });
}
