import { readdirSync } from 'node:fs';
import { readOrEmpty } from './cpu-clock.ts';

/** Processes that have the environment of a server, as far as the system shows it (Linux). */
export interface MarkedProcesses {
  /** Started by the server or by its descendants, however many of those have ended since. */
  own: number[];
  /** Started by an older process that was sent the environment. */
  foreign: number[];
}

/**
 * Finds the processes with a text in their environment. A process whose parent has ended is adopted by the nearest of our ancestors
 * that adopts orphans, or by the init process.
 */
export function markedProcesses(mark: string): MarkedProcesses {
  const found: MarkedProcesses = { own: [], foreign: [] };
  if (process.platform !== 'linux') return found;
  const marked = new Set(
    readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0 && readOrEmpty(`/proc/${pid}/environ`).includes(mark)),
  );
  const adopting = new Set([1, process.pid, ...ancestorsOf(process.pid)]);
  for (const pid of marked) {
    let at = pid;
    while (marked.has(at)) at = parentOf(at);
    // 0: the process has ended in the meantime.
    if (at === 0 || adopting.has(at)) found.own.push(pid);
    else found.foreign.push(pid);
  }
  return found;
}

/** Returns the process itself first and the init process last; empty if the system does not show it. */
export function ancestorsOf(pid: number): number[] {
  const chain: number[] = [];
  for (let at = pid; at > 0 && !chain.includes(at); at = parentOf(at)) chain.push(at);
  return process.platform === 'linux' ? chain : [];
}

/** Reads the 4th field; the 2nd is a name in brackets that may contain any character. */
function parentOf(pid: number): number {
  const stat = readOrEmpty(`/proc/${pid}/stat`);
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0);
}
