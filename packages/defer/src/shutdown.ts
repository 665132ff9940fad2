import { constants } from 'node:os';

/** Methods of a deferrer that are called at the end of the process. */
interface Closable {
  drain(): Promise<void>;
  close(): Promise<void>;
  closeSync(): void;
}

/** Signals that end a process without listeners: sent by service managers, terminals (closed, or by a key) and nodemon. */
const signals: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'];
/** Signals that mean the end despite other listeners. The others may mean a new configuration, or a report. */
const ends: ReadonlySet<NodeJS.Signals> = new Set(['SIGTERM', 'SIGINT']);
const open = new Set<Closable>();
const onSignal = new Set<Closable>();
let isEnding = false;

/** Journals the remaining jobs when the process exits and, with `handlesSignals`, drains on a signal to end. */
export function watchExit(deferrer: Closable, handlesSignals: boolean): void {
  if (open.size === 0) process.on('exit', closeAllNow);
  open.add(deferrer);
  if (!handlesSignals) return;
  if (onSignal.size === 0) for (const signal of signals) process.on(signal, handle);
  onSignal.add(deferrer);
}

export function unwatchExit(deferrer: Closable): void {
  open.delete(deferrer);
  if (open.size === 0) process.off('exit', closeAllNow);
  if (!onSignal.delete(deferrer) || onSignal.size > 0) return;
  // The listener must stay while a signal is being handled: without one, the next signal would kill at once.
  if (!isEnding) for (const signal of signals) process.off(signal, handle);
}

function closeAllNow(): void {
  for (const deferrer of open) deferrer.closeSync();
}

/*
 * Another listener decides on the end of the process, and closes the deferrer once its requests have their responses;
 * until then it drains. Without another listener, the process ends by the signal as it would without this package.
 */
function handle(signal: NodeJS.Signals): void {
  const isAlone = process.listenerCount(signal) - watchers() <= 1;
  if (isEnding && isAlone) {
    // A second signal ends the wait. The journal takes the remaining jobs.
    closeAllNow();
    return endBy(signal);
  }
  if (!isAlone) {
    if (ends.has(signal)) for (const deferrer of onSignal) void deferrer.drain();
    return;
  }
  isEnding = true;
  void Promise.allSettled([...onSignal].map((deferrer) => deferrer.close())).then(() =>
    endBy(signal),
  );
}

/*
 * The listeners of signal-exit (used by execa, proper-lockfile and many others) end the process only if all listeners are
 * their own: they would wait for this one, and this one for them. signal-exit counts its own versions in the same way.
 * The listeners of @redline/telemetry end no process that another ends.
 */
function watchers(): number {
  const { __signal_exit_emitter__: third } = process as { __signal_exit_emitter__?: Emitter };
  const shared = globalThis as Record<symbol, unknown>;
  const fourth = shared[Symbol.for('signal-exit emitter')];
  const ofTelemetry = { count: shared[Symbol.for('redline.signal-watchers')] };
  return countOf(third) + countOf(fourth as Emitter | undefined) + countOf(ofTelemetry);
}

interface Emitter {
  readonly count?: unknown;
}

function countOf(emitter: Emitter | undefined): number {
  return typeof emitter?.count === 'number' ? emitter.count : 0;
}

function endBy(signal: NodeJS.Signals): void {
  for (const each of signals) process.off(each, handle);
  process.kill(process.pid, signal);
  // The kernel drops a signal without a listener for process 1 of a container, and an ignored one for any process.
  const exit = (): never => process.exit(128 + constants.signals[signal]);
  if (process.listenerCount(signal) === 0) exit();
  // signal-exit handles it in the next turn, and ends the process by the signal itself.
  setTimeout(exit, watchersMs);
}

const watchersMs = 500;
