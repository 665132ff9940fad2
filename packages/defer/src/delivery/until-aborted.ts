/** Settles as `promise`, or rejects with the signal's reason once that aborts: no client can be trusted to give up in time. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return abortable(signal).race(promise);
}

export interface Abortable {
  race<T>(promise: Promise<T>): Promise<T>;
}

/** Does the same for many promises with one listener: a signal searches all its listeners for each one that is added. */
export function abortable(signal: AbortSignal): Abortable {
  const waiting = new Set<(reason: unknown) => void>();
  const abort = (): void => {
    for (const reject of waiting) reject(signal.reason);
  };
  return {
    race: <T>(promise: Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        if (signal.aborted) {
          promise.catch(() => {});
          reject(signal.reason as Error);
          return;
        }
        if (waiting.size === 0) signal.addEventListener('abort', abort, { once: true });
        waiting.add(reject);
        const leave = (): void => {
          waiting.delete(reject);
          if (waiting.size === 0) signal.removeEventListener('abort', abort);
        };
        promise.finally(leave).then(resolve, reject);
      }),
  };
}
