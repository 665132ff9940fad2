import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** Undefined if wrk is not on PATH. `wrk -v` prints its version and exits with 1. */
export function wrkVersion(): string | undefined {
  try {
    return parseVersion(execFileSync('wrk', ['-v'], { encoding: 'utf8', stdio: 'pipe' }));
  } catch (error) {
    return parseVersion(String((error as { stdout?: unknown }).stdout ?? ''));
  }
}

function parseVersion(text: string): string | undefined {
  return /wrk\s+(?:\w+\/)?v?(\d+\.\d+\.\d+)/.exec(text)?.[1];
}

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
