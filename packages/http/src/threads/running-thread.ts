import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';

export interface Ended {
  readonly exitCode: number;
  readonly error: Error | undefined;
  readonly livedMs: number;
}

export interface RunningThread {
  /** Resolves when the entry has run. Rejects if the thread ends before that. */
  readonly started: Promise<void>;
  readonly ended: Promise<Ended>;
  /** Asks the thread to end, and terminates it after this many ms. */
  stop(timeoutMs: number): void;
  terminate(): void;
}

export function startThread(entry: URL, workerData: unknown): RunningThread {
  const began = performance.now();
  const { port1, port2 } = new MessageChannel();
  const started = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<Ended>();
  let error: Error | undefined;
  port1.once('message', () => started.resolve());
  const end = (exitCode: number): void => {
    // The exit of a thread that has no work may overtake its message.
    if (receiveMessageOnPort(port1) !== undefined) started.resolve();
    port1.close();
    started.reject(error ?? new Error(`The thread exited with ${exitCode}`));
    ended.resolve({ exitCode, error, livedMs: performance.now() - began });
  };
  const worker = import('./find-thread-main.ts').then(({ findThreadMain }) => {
    const made = new Worker(findThreadMain(), { workerData });
    // Sent as a message, because workerData belongs to the application.
    made.postMessage({ entry: entry.href, port: port2 }, [port2]);
    made.once('error', (thrown) => {
      error = thrown instanceof Error ? thrown : new Error(String(thrown));
    });
    made.once('exit', end);
    return made;
  });
  worker.catch((thrown: Error) => {
    error = thrown;
    end(1);
  });
  const terminate = (): void =>
    void worker.then(
      (made) => made.terminate(),
      () => {},
    );
  return {
    started: started.promise,
    ended: ended.promise,
    stop(timeoutMs) {
      port1.postMessage('stop');
      const force = setTimeout(terminate, timeoutMs);
      void ended.promise.then(() => clearTimeout(force));
    },
    terminate,
  };
}
