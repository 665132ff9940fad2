import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { readFileSync } from 'node:fs';

/** Assigns cores to servers and to the load. A server that shares its core with the load measures the scheduler. */
export interface Pinning {
  /** Total number of cores. */
  coreCount: number;
  loadCoreCount: number;
  /** For the report. */
  description: string;
  /** In taskset's format; undefined when nothing is pinned. */
  cores: { all: string; server: string } | undefined;
}

/** Cores of this process before it was pinned. */
let given: number[] | undefined;

/**
 * Moves this process, and all processes it starts later, to the load's cores; back to all its cores if pinning is not wanted. Call
 * it before starting any process. Without taskset, or with one core, nothing is pinned.
 */
export function pinSelf(wanted: boolean): Pinning {
  const wasPinned = given !== undefined;
  const all = (given ??= allowedCores());
  const unpinned = {
    coreCount: all.length,
    loadCoreCount: all.length,
    description: 'none',
    cores: undefined,
  };
  if (process.platform !== 'linux' || all.length < 2) return unpinned;
  if (!wanted) {
    if (wasPinned) setCores(process.pid, all.join(','));
    return unpinned;
  }
  const server = String(all.at(-1));
  const load = all.slice(0, -1);
  if (!setCores(process.pid, load.join(','))) return unpinned;
  const loadText = load.length === 1 ? `core ${load[0]}` : `cores ${load[0]}–${load.at(-1)}`;
  return {
    coreCount: all.length,
    loadCoreCount: load.length,
    description: `server on core ${server}, load on ${loadText}`,
    cores: { all: all.join(','), server },
  };
}

/** Returns the command that runs `command` on every core, even though this process is pinned to some of them. */
export function onAllCores({ cores }: Pinning, command: string[]): string[] {
  return cores === undefined ? command : ['taskset', '-c', cores.all, ...command];
}

/** Moves a server and all its threads to the server's core. */
export function moveToServerCore({ cores }: Pinning, pid: number): void {
  if (cores === undefined) return;
  setCores(pid, cores.server);
}

/**
 * Puts server and load on one core, where they take turns: each runs until it has nothing left to do. On two cores the server pays
 * for waking the load whenever the load sleeps, so a response costs more the slower the server is; on one core the cost is
 * constant, and the core's other hyperthread stays idle.
 * @param pid Its main thread moves; compiler and collector threads stay where they are.
 * @returns command prefix for the load
 */
export function takeTurns(pinning: Pinning, pid: number): string[] {
  if (pinning.cores === undefined) return [];
  run('taskset', ['-pc', pinning.cores.server, String(pid)]);
  run('chrt', ['--batch', '-p', '0', String(pid)]);
  return onServerCore(pinning);
}

/** True if batch scheduling is available: a batch task that wakes up does not interrupt the running one. */
let hasBatch: boolean | undefined;

/** Returns the command prefix of a load that takes turns with a server on its core; empty if that is not possible. */
export function onServerCore({ cores }: Pinning): string[] {
  if (cores === undefined) return [];
  hasBatch ??= run('chrt', ['--batch', '0', 'true']);
  return ['taskset', '-c', cores.server, ...(hasBatch ? ['chrt', '--batch', '0'] : [])];
}

/** Makes a server a batch task while it takes turns; otherwise it should be woken at once. */
export function setBatch(pid: number, isBatch: boolean): void {
  run('chrt', [isBatch ? '--batch' : '--other', '-ap', '0', String(pid)]);
}

function setCores(pid: number, cores: string): boolean {
  return run('taskset', ['-apc', cores, String(pid)]);
}

function run(program: string, args: string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Returns the cores this process may use: a container may be given cores 4 and 7 of 16. */
function allowedCores(): number[] {
  const everyCore = Array.from({ length: availableParallelism() }, (_, core) => core);
  if (process.platform !== 'linux') return everyCore;
  const list = /^Cpus_allowed_list:\s*(\S+)/m.exec(
    readFileSync('/proc/self/status', 'latin1'),
  )?.[1];
  if (list === undefined) return everyCore;
  return list.split(',').flatMap((range) => {
    const [first, last = first] = range.split('-').map(Number);
    return Array.from({ length: last! - first! + 1 }, (_, offset) => first! + offset);
  });
}
