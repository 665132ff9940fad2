import type { ChildProcess } from 'node:child_process';
import type { Tree } from './kill-tree.ts';
import { clearTimeout, setTimeout } from '../node/timers.ts';

/** Kills the child after `timeoutMs`. */
export function killOnTimeout(
  child: ChildProcess,
  timeoutMs: number,
  killSignal: NodeJS.Signals | number | undefined,
  tree?: Tree,
): void {
  const timer = setTimeout(() => {
    try {
      if (!child.kill(killSignal)) tree?.endLeft(killSignal);
    } catch (error) {
      child.emit('error', error as Error);
    }
  }, timeoutMs);
  child.once(tree === undefined ? 'exit' : 'close', () => clearTimeout(timer));
}
