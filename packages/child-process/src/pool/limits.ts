import type { ChildProcess } from 'node:child_process';
import { killOnAbort } from '../calls/abort.ts';
import type { PoolChild } from './pool-child.ts';
import type { PoolSpawnOptions } from './spawn-request.ts';
import { clearTimeout, setTimeout } from '../node/timers.ts';

/** Implements `timeout`: it runs from the call, as in Node. */
export function killAfter(
  child: PoolChild,
  { timeout, killSignal }: PoolSpawnOptions,
  onTimeout?: () => void,
): void {
  if (!timeout) return;
  const timer = setTimeout(() => {
    onTimeout?.();
    child.kill(killSignal);
  }, timeout);
  const stop = (): void => clearTimeout(timer);
  // A child whose worker died has no 'exit'.
  child.once('exit', stop).once('close', stop);
}

/** Implements `signal`: kills the child and emits Node's AbortError. */
export function killWhenAborted(child: PoolChild, { signal, killSignal }: PoolSpawnOptions): void {
  if (signal) killOnAbort(child as unknown as ChildProcess, signal, killSignal);
}
