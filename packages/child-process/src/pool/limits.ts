import type { PoolChild } from './pool-child.ts';
import type { PoolSpawnOptions } from './spawn-request.ts';

/** `timeout`: the clock runs from the call, as in Node. */
export function killAfter(
  child: PoolChild,
  { timeout = 0, killSignal }: PoolSpawnOptions,
  onTimeout?: () => void,
): void {
  if (timeout <= 0) return;
  const timer = setTimeout(() => {
    onTimeout?.();
    child.kill(killSignal);
  }, timeout);
  const stop = (): void => clearTimeout(timer);
  child.once('exit', stop).once('close', stop);
}

/** `signal`: kills the child and emits Node's AbortError. */
export function killOnAbort(
  child: PoolChild,
  { signal, killSignal }: PoolSpawnOptions,
  onAbort: (error: Error) => void = (error) => child.emit('error', error),
): void {
  if (signal === undefined) return;
  const abort = (): void => {
    if (child.kill(killSignal)) onAbort(abortError(signal));
  };
  if (signal.aborted) {
    process.nextTick(abort);
    return;
  }
  signal.addEventListener('abort', abort, { once: true });
  const stop = (): void => signal.removeEventListener('abort', abort);
  child.once('exit', stop).once('close', stop);
}

function abortError({ reason }: AbortSignal): Error {
  const error = new Error('The operation was aborted', { cause: reason });
  error.name = 'AbortError';
  return Object.assign(error, { code: 'ABORT_ERR' });
}
