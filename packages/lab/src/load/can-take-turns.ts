import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { findWrk } from './wrk.ts';

let known: boolean | undefined;

/** Whether server and load can take turns on one core here: Linux with two cores and more, taskset, and wrk. */
export function canTakeTurns(): boolean {
  return (known ??=
    process.platform === 'linux' &&
    availableParallelism() > 1 &&
    findWrk(1) !== undefined &&
    hasTaskset());
}

function hasTaskset(): boolean {
  try {
    execFileSync('taskset', ['-p', String(process.pid)], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
