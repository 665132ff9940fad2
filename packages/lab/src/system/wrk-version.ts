import { execFileSync } from 'node:child_process';

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
