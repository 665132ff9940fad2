import { readdirSync, readFileSync } from 'node:fs';

/**
 * Whether nothing can happen any more to the children of this process group, and of the groups that `leaders` lead,
 * unless somebody does something to them: none of them runs, none sleeps for a time, and no thread of this process
 * runs but the one that asks. How long that takes depends on the machine, so a fixed time would not tell.
 */
export function isQuiet(leaders: readonly number[]): boolean {
  const own = stat('self');
  const groups = new Set([own?.group, ...leaders]);
  if (hasBusyThread()) return false;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(stat)
    .every((process) => !groups.has(process?.group) || !isBusy(process));
}

/** Whether another thread of this process runs, or waits for its turn to run. */
export function hasBusyThread(): boolean {
  const threads = readdirSync('/proc/self/task').filter((id) => Number(id) !== process.pid);
  return threads.some((id) => isBusy(stat(`self/task/${id}`)));
}

/** Returns true if a process runs, or waits for its turn or for a time. */
export function runs(pid: number): boolean {
  return isBusy(stat(`${pid}`));
}

interface Stat {
  readonly program: string;
  readonly state: string;
  readonly group: number;
}

function stat(name: string): Stat | undefined {
  let line: string;
  try {
    line = readFileSync(`/proc/${name}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  const end = line.lastIndexOf(')');
  const [state, , group] = line.slice(end + 2).split(' ');
  return { program: line.slice(line.indexOf('(') + 1, end), state: state!, group: Number(group) };
}

/** A shell that waits for input does not ask for the children it has started meanwhile: a zombie does nothing more. */
function isBusy(process: Stat | undefined): boolean {
  if (process === undefined || process.state === 'Z') return false;
  return /[RD]/.test(process.state) || process.program === 'sleep';
}
