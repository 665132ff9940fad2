import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { readFileSync } from 'node:fs';

/** Which cores serve and which ask. A server that shares its core with the load measures the scheduler. */
export interface Pinning {
  /** How many cores there are in all. */
  coreCount: number;
  loadCoreCount: number;
  /** For the report. */
  description: string;
  /** As taskset takes them; undefined when nothing is pinned. */
  cores: { all: string; server: string } | undefined;
}

/** Those of this process before it was pinned. */
let given: number[] | undefined;

/**
 * Moves this process, and with it all it starts later, to the load's cores; where that is not wanted, back to all of its
 * own. Call it before anything is started. Without taskset, or with one core, nothing is pinned.
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

/** The command that runs `command` on every core, though this process keeps to some of them. */
export function onAllCores({ cores }: Pinning, command: string[]): string[] {
  return cores === undefined ? command : ['taskset', '-c', cores.all, ...command];
}

/** Moves a server, with all its threads, to the server's core. */
export function moveToServerCore({ cores }: Pinning, pid: number): void {
  if (cores === undefined) return;
  setCores(pid, cores.server);
}

/**
 * Server and load on one core, taking turns: each runs until it has nothing left to do. On two cores the server pays for
 * waking the load whenever that is asleep, so an answer costs more the slower the server is; here it always costs the
 * same, and the core's other hyperthread is left in peace.
 * @param pid Its main thread moves; compiler and collector threads stay where they are.
 * @returns What to put before the command of the load.
 */
export function takeTurns(pinning: Pinning, pid: number): string[] {
  if (pinning.cores === undefined) return [];
  run('taskset', ['-pc', pinning.cores.server, String(pid)]);
  run('chrt', ['--batch', '-p', '0', String(pid)]);
  return onServerCore(pinning);
}

/** A batch task that wakes up does not interrupt the one that runs. */
let hasBatch: boolean | undefined;

/** What to put before the command of a load that is to take turns with a server on its core; nothing where that cannot be. */
export function onServerCore({ cores }: Pinning): string[] {
  if (cores === undefined) return [];
  hasBatch ??= run('chrt', ['--batch', '0', 'true']);
  return ['taskset', '-c', cores.server, ...(hasBatch ? ['chrt', '--batch', '0'] : [])];
}

/** While a server takes turns it is a batch task; otherwise it should be woken at once. */
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

/** A container may be given cores 4 and 7 of 16. */
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
