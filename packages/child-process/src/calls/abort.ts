import type { ChildProcess } from 'node:child_process';
import { addAbortListener } from 'node:events';
import { abortError } from '../errors.ts';
import type { Tree } from './kill-tree.ts';

/** Kills the child when `signal` aborts, and emits Node's AbortError. */
export function killOnAbort(
  child: ChildProcess,
  signal: AbortSignal,
  killSignal: NodeJS.Signals | number | undefined,
  beforeAbort: () => void,
  tree?: Tree,
): void {
  const onAbort = (): void => {
    try {
      beforeAbort();
      if (child.kill(killSignal) || tree?.endLeft(killSignal))
        child.emit('error', abortError(signal.reason));
    } catch (error) {
      child.emit('error', error as Error);
    }
  };
  if (signal.aborted) {
    process.nextTick(onAbort);
    return;
  }
  const listening = addAbortListener(signal, onAbort);
  child.once(tree === undefined ? 'exit' : 'close', () => listening[Symbol.dispose]());
}
