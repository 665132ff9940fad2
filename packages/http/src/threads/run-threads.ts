import { EventEmitter } from 'node:events';
import { constants } from 'node:os';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { HttpError } from '../errors.ts';
import {
  checkCount,
  resolveOptions,
  type ResolvedOptions,
  type ThreadsOptions,
} from './options.ts';

/** Events of the threads. `index` is 0 to n - 1 and stays with a thread's successors. */
export interface ThreadsEvents {
  /** The entry of a thread has run. */
  start: [index: number];
  /** A thread has exited: with its exit code, and with the error that ended it. */
  exit: [index: number, exitCode: number, error: Error | undefined];
  /** A thread that died restarts after `delayMs`. */
  restart: [index: number, delayMs: number];
  /** All threads have exited and none restarts. */
  stopped: [];
}

/**
 * Runs `entry` in `count` worker threads that serve one port together. In such a thread `listen` of this package's servers
 * shares its port (`reusePort`), and the kernel distributes connections over the threads.
 *
 * A thread that dies is restarted, later each time. On SIGTERM or SIGINT every thread stops listening, finishes its open
 * requests and exits; then the process does. To stop, a thread calls the function that the entry exports as `close`; without
 * it, it closes the servers that `createServer` and `serverFactory` made.
 *
 * @param count Number of threads. One for each core that should serve.
 * @param entry A module: a path, relative to the working directory, or a URL.
 * @throws ERR_REDLINE_HTTP_OPTION
 * @example // main.ts runThreads(availableParallelism(), new URL('server.ts', import.meta.url)); // server.ts
 * createServer((request, response) => response.end('hello')).listen(3000);
 */
export function runThreads(
  count: number,
  entry: string | URL,
  options: ThreadsOptions = {},
): Threads {
  checkCount(count);
  const url =
    typeof entry === 'string' && !entry.startsWith('file:')
      ? pathToFileURL(resolve(entry))
      : new URL(entry);
  return new Threads(count, url, resolveOptions(options));
}

/** Threads that serve together. Created by `runThreads`. */
export class Threads extends EventEmitter<ThreadsEvents> implements AsyncDisposable {
  /** Number of threads. */
  readonly count: number;
  /**
   * Resolves when the entry has run in every thread.
   *
   * Rejects with ERR_REDLINE_HTTP_THREAD_NOT_STARTED if a thread dies before any has started: no thread is running then.
   */
  readonly started: Promise<void>;

  readonly #entry: URL;
  readonly #options: ResolvedOptions;
  readonly #threads: (RunningThread | undefined)[];
  readonly #failures: number[];
  readonly #restarts = new Set<NodeJS.Timeout>();
  readonly #waitsForStart: Set<number>;
  readonly #start = Promise.withResolvers<void>();
  readonly #stop = Promise.withResolvers<void>();
  readonly #onSignal = (signal: NodeJS.Signals): void => this.#stopBySignal(signal);
  #hasStarted = false;
  #isStopping = false;

  /** @internal */
  constructor(count: number, entry: URL, options: ResolvedOptions) {
    super();
    this.count = count;
    this.#entry = entry;
    this.#options = options;
    this.#threads = Array.from({ length: count }, () => undefined);
    this.#failures = Array.from({ length: count }, () => 0);
    this.#waitsForStart = new Set(this.#threads.keys());
    this.started = this.#start.promise;
    for (const signal of options.signals) process.on(signal, this.#onSignal);
    for (let index = 0; index < count; index += 1) this.#run(index);
  }

  /** Lets every thread finish its open requests, and resolves when all have exited. */
  stop(): Promise<void> {
    if (!this.#isStopping) {
      this.#isStopping = true;
      for (const restart of this.#restarts) clearTimeout(restart);
      this.#restarts.clear();
      for (const thread of this.#threads) thread?.stop(this.#options.stopTimeoutMs);
      this.#finishIfAllExited();
    }
    return this.#stop.promise;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #run(index: number): void {
    const thread = startThread(this.#entry, this.#options.workerData);
    this.#threads[index] = thread;
    thread.started.then(
      () => this.#onStart(index),
      () => {},
    );
    thread.ended.then((ended) => this.#onEnd(index, ended));
  }

  #onStart(index: number): void {
    this.#hasStarted = true;
    this.#waitsForStart.delete(index);
    this.emit('start', index);
    if (this.#waitsForStart.size === 0) this.#start.resolve();
  }

  #onEnd(index: number, { exitCode, error, livedMs }: Ended): void {
    this.#threads[index] = undefined;
    this.emit('exit', index, exitCode, error);
    if (!this.#isStopping && !this.#hasStarted) this.#giveUp(index, exitCode, error);
    // A thread that exits with 0 had no work left.
    if (this.#isStopping || exitCode === 0) this.#finishIfAllExited();
    else this.#restart(index, livedMs, error);
  }

  #giveUp(index: number, exitCode: number, error: Error | undefined): void {
    const reason = error?.message ?? `it exited with ${exitCode}`;
    const message = `Thread ${index} did not start ${this.#entry.href}: ${reason}`;
    const options = error === undefined ? undefined : { cause: error };
    this.#start.reject(new HttpError('ERR_REDLINE_HTTP_THREAD_NOT_STARTED', message, options));
    void this.stop();
  }

  #restart(index: number, livedMs: number, error: Error | undefined): void {
    const { restartDelayMs, maxRestartDelayMs } = this.#options;
    if (livedMs > maxRestartDelayMs) this.#failures[index] = 0;
    const delayMs = Math.min(restartDelayMs * 2 ** this.#failures[index]!, maxRestartDelayMs);
    this.#failures[index]! += 1;
    if (this.listenerCount('exit') === 0) {
      const reason = error?.stack ?? 'without an error';
      process.emitWarning(`Thread ${index} exited and restarts in ${delayMs} ms: ${reason}`);
    }
    this.emit('restart', index, delayMs);
    const restart = setTimeout(() => {
      this.#restarts.delete(restart);
      this.#run(index);
    }, delayMs);
    this.#restarts.add(restart);
  }

  #finishIfAllExited(): void {
    if (this.#restarts.size > 0 || this.#threads.some(Boolean)) return;
    this.#isStopping = true;
    for (const signal of this.#options.signals) process.off(signal, this.#onSignal);
    this.#start.resolve();
    this.#stop.resolve();
    this.emit('stopped');
  }

  #stopBySignal(signal: NodeJS.Signals): void {
    // A second signal terminates the threads.
    if (this.#isStopping) for (const thread of this.#threads) thread?.terminate();
    void this.stop().then(() => dieOf(signal));
  }
}

function dieOf(signal: NodeJS.Signals): void {
  process.kill(process.pid, signal);
  // PID 1 of a container has no default action for signals: it is still alive here.
  if (process.pid === 1) process.exit(128 + constants.signals[signal]);
}

interface Ended {
  readonly exitCode: number;
  readonly error: Error | undefined;
  readonly livedMs: number;
}

interface RunningThread {
  /** Resolves when the entry has run. Rejects if the thread ends before that. */
  readonly started: Promise<void>;
  readonly ended: Promise<Ended>;
  /** Asks the thread to end, and terminates it after this many ms. */
  stop(timeoutMs: number): void;
  terminate(): void;
}

function startThread(entry: URL, workerData: unknown): RunningThread {
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
