import { constants } from 'node:os';

/** What the end of the process does with a deferrer. */
interface Closable {
  drain(): Promise<void>;
  close(): Promise<void>;
  closeSync(): void;
}

/** Those that end a process which does not listen: asked for by service managers, terminals (closed, or by a key) and nodemon. */
const signals: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'];
/** Those that mean the end, whoever else listens: others may mean a new configuration, or a report. */
const ends: ReadonlySet<NodeJS.Signals> = new Set(['SIGTERM', 'SIGINT']);
const open = new Set<Closable>();
const onSignal = new Set<Closable>();
let isEnding = false;

/** Journals what is left when the process exits, and with `handlesSignals` drains when it is asked to end. */
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
  // While a signal is being handled the listener must stay: without any, the next one would kill at once.
  if (!isEnding) for (const signal of signals) process.off(signal, handle);
}

function closeAllNow(): void {
  for (const deferrer of open) deferrer.closeSync();
}

/* Whoever else listens decides on the end of the process, and closes the deferrer when its requests are answered;
   until then it drains. When nobody does, the process ends by the signal as it would have without us. */
function handle(signal: NodeJS.Signals): void {
  const isAlone = process.listenerCount(signal) - watchers() <= 1;
  if (isEnding && isAlone) {
    // Asked twice: no more waiting. The journal takes what is left.
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

/* Those of signal-exit (execa, proper-lockfile and many others have it) end the process only when all who listen are of
   their kind: they would wait for us, and we for them. Of its own versions it tells in the same way. */
function watchers(): number {
  const { __signal_exit_emitter__: third } = process as { __signal_exit_emitter__?: Emitter };
  const fourth = (globalThis as Record<symbol, unknown>)[Symbol.for('signal-exit emitter')];
  return countOf(third) + countOf(fourth as Emitter | undefined);
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
  // The kernel keeps a signal without a listener from process 1 of a container, and an ignored one from any.
  const exit = (): never => process.exit(128 + constants.signals[signal]);
  if (process.listenerCount(signal) === 0) exit();
  // Those of signal-exit get it in the next turn, and end the process by the signal themselves.
  setTimeout(exit, watchersMs);
}

const watchersMs = 500;
