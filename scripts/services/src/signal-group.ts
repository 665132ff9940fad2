import type { ChildProcess } from 'node:child_process';

/**
 * Signals the process group that a child leads, including after the child's end, for its remaining processes. The number is
 * in use while the group has members; afterwards it may be another process's, which then also owns the group of that number.
 */
export function signalGroup(child: ChildProcess, name: NodeJS.Signals): void {
  const { pid, exitCode, signalCode } = child;
  if (pid === undefined) return;
  const hasEnded = exitCode !== null || signalCode !== null;
  if (hasEnded && isSignalled(pid, 0)) return;
  isSignalled(-pid, name);
}

/** Returns false if the process or group does not exist. */
function isSignalled(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
