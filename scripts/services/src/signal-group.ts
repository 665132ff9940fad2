import type { ChildProcess } from 'node:child_process';

/**
 * Signals the process group that a child leads, also after the child's end, for what it has left. Its number is in use as long as the
 * group has members; then it may be another process's, of whom the group of that number is.
 */
export function signalGroup(child: ChildProcess, name: NodeJS.Signals): void {
  const { pid, exitCode, signalCode } = child;
  if (pid === undefined) return;
  const hasEnded = exitCode !== null || signalCode !== null;
  if (hasEnded && isSignalled(pid, 0)) return;
  isSignalled(-pid, name);
}

/** Whether there is such a process, or such a group. */
function isSignalled(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
