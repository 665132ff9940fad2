import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { readFileSync } from 'node:fs';

/** Which cores serve and which ask. A server that shares its core with the load measures the scheduler. */
export interface Pinning {
  serverCores: string | undefined;
  loadCoreCount: number;
  /** For the report. */
  description: string;
}

/**
 * Moves this process, and with it all it starts later, to the load's cores.
 * Call it before anything is started. Without taskset, or with one core, nothing is pinned.
 */
export function pinSelf(wanted: boolean): Pinning {
  const cores = allowedCores();
  const unpinned = { serverCores: undefined, loadCoreCount: cores.length, description: 'none' };
  if (!wanted || process.platform !== 'linux' || cores.length < 2) return unpinned;
  const server = cores.at(-1)!;
  const load = cores.slice(0, -1);
  try {
    execFileSync('taskset', ['-apc', load.join(','), String(process.pid)], { stdio: 'ignore' });
  } catch {
    return unpinned;
  }
  return {
    serverCores: String(server),
    loadCoreCount: load.length,
    description: `server on core ${server}, load on ${load.length === 1 ? `core ${load[0]}` : `cores ${load[0]}–${load.at(-1)}`}`,
  };
}

/** The command that runs `command` on the server's cores. */
export function onServerCores(pinning: Pinning, command: string[]): string[] {
  return pinning.serverCores === undefined
    ? command
    : ['taskset', '-c', pinning.serverCores, ...command];
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
