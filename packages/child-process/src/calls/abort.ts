import type { ChildProcess } from 'node:child_process';
import { addAbortListener } from 'node:events';
import type { ChildHandle } from '../child/child-handle.ts';
import { abortError } from '../errors.ts';
import type { Tree } from './kill-tree.ts';

/** The parts of an engine's child that an abort needs. */
export interface Aborted {
  readonly handle?: ChildHandle | null | undefined;
  readonly tree?: Tree | undefined;
}

/** Kills the child when `signal` aborts, and emits Node's AbortError. */
export function killOnAbort(
  child: ChildProcess,
  signal: AbortSignal,
  killSignal: NodeJS.Signals | number | undefined,
  { handle, tree }: Aborted = {},
): void {
  const onAbort = (): void => {
    try {
      handle?.confirmSpawn();
      handle?.pipes?.stopCollecting();
      if (child.kill(killSignal) || tree?.endLeft(killSignal))
        child.emit('error', abortError(signal.reason));
      else handle?.pipes?.resumeCollecting();
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
