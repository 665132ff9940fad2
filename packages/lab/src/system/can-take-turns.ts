import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { wrkVersion } from './wrk-version.ts';

let known: boolean | undefined;

/** True if server and load can take turns on one core here: Linux with at least two cores, taskset and wrk. */
export function canTakeTurns(): boolean {
  return (known ??=
    process.platform === 'linux' &&
    availableParallelism() > 1 &&
    wrkVersion() !== undefined &&
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
