import { readdirSync } from 'node:fs';
import { readOrEmpty } from './cpu-clock.ts';

/** Processes that were given the environment of a server, as far as the system shows it (Linux). */
export interface MarkedProcesses {
  /** Started by the server, or by what it started, however many of them have ended since. */
  own: number[];
  /** Started by something that was there before, which was sent the environment. */
  foreign: number[];
}

/**
 * Finds the processes with a text in their environment. A process whose parent has ended is given to the next ancestor of ours that takes such, or to the
 * first of all.
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
    // 0: it has ended meanwhile.
    if (at === 0 || adopting.has(at)) found.own.push(pid);
    else found.foreign.push(pid);
  }
  return found;
}

/** Itself first, the first process of all last; empty where the system does not show it. */
export function ancestorsOf(pid: number): number[] {
  const chain: number[] = [];
  for (let at = pid; at > 0 && !chain.includes(at); at = parentOf(at)) chain.push(at);
  return process.platform === 'linux' ? chain : [];
}

/** The 4th field; the 2nd is a name in brackets that may hold anything. */
function parentOf(pid: number): number {
  const stat = readOrEmpty(`/proc/${pid}/stat`);
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0);
}
