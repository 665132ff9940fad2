import type { LineSink } from '@redline/http/pino';
import type { DestinationStream } from 'pino';
import { constants } from 'node:os';
import { isMainThread } from 'node:worker_threads';

/** The destination of lines, with methods to ensure that they were written. */
export interface LogDestination {
  /** The stream that pino writes to. */
  readonly stream: DestinationStream;
  /** The sink of the lines that the engine writes. */
  readonly lines: LineSink;
  /** True if a pending write can only be waited for. */
  readonly writing: boolean;
  flush(): void;
  flushSync(): void;
  /** Same as `flushSync`, and the last one: the engine then sends no more responses of its own that have a line. */
  end(): void;
  drain(): Promise<void>;
  close(): Promise<void>;
}

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
type Signal = (typeof SIGNALS)[number];

/** A reader that has stopped reading must not keep alive a process that was asked to exit. */
export const PATIENCE_MS = 2000;

// One set of listeners for the process, however many apps it runs.
const atExit = new Set<LogDestination>();
const atSignal = new Set<LogDestination>();
const dying = new Set<Signal>();

/**
 * Flushes the destination when the process ends: on `exit`, and on SIGTERM, SIGINT and SIGHUP
 * if `signals` is on. Returns a function that removes it again.
 */
export function flushOnExit(destination: LogDestination, signals: boolean): () => void {
  if (atExit.size === 0) process.on('exit', onExit);
  atExit.add(destination);
  if (signals && isMainThread) {
    if (atSignal.size === 0) for (const signal of SIGNALS) process.on(signal, onSignal);
    atSignal.add(destination);
  }
  return () => {
    if (atExit.delete(destination) && atExit.size === 0) process.off('exit', onExit);
    if (atSignal.delete(destination) && atSignal.size === 0) {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    }
  };
}

function onExit(): void {
  for (const destination of atExit) destination.end();
}

function onSignal(signal: Signal): void {
  if (isHandledElsewhere(signal)) {
    for (const destination of atSignal) destination.flush();
    return;
  }
  const writing = [...atSignal].filter((destination) => destination.writing);
  if (writing.length === 0 || dying.has(signal)) return die(signal);
  // A pending write cannot be waited for synchronously; without this it could be lost.
  dying.add(signal);
  const timer = setTimeout(() => die(signal), PATIENCE_MS);
  void (async () => {
    await Promise.allSettled(writing.map((destination) => destination.drain()));
    clearTimeout(timer);
    die(signal);
  })();
}

/** Dies of the signal, so that the parent sees the signal and not an exit code. */
function die(signal: Signal): void {
  onExit();
  process.off(signal, onSignal);
  dying.delete(signal);
  process.kill(process.pid, signal);
  // The first process of a container has no default action for signals: it is still running.
  if (process.pid === 1) process.exit(128 + constants.signals[signal]);
}

/**
 * Returns true if other code handles the signal. `signal-exit` listens too, but only to
 * re-raise when it is alone: waiting for each other, the process would never end.
 */
function isHandledElsewhere(signal: Signal): boolean {
  const others = process.listenerCount(signal) - 1;
  return others > signalExitListeners();
}

function signalExitListeners(): number {
  const emitters = [
    Reflect.get(process, Symbol.for('signal-exit emitter')),
    Reflect.get(process, '__signal_exit_emitter__'),
  ];
  let count = 0;
  for (const emitter of emitters) {
    if (typeof emitter?.count === 'number') count += emitter.count;
  }
  return count;
}
