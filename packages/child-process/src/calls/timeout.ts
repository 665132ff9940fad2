import type { ChildProcess } from 'node:child_process';

/** Kills the child after `timeoutMs`. */
export function killOnTimeout(
  child: ChildProcess,
  timeoutMs: number,
  killSignal: NodeJS.Signals | number | undefined,
): void {
  const timer = setTimeout(() => {
    try {
      child.kill(killSignal);
    } catch (error) {
      child.emit('error', error as Error);
    }
  }, timeoutMs);
  child.once('exit', () => clearTimeout(timer));
}
