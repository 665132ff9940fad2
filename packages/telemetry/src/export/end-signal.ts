const SIGNAL = 'SIGTERM';
/** Number of this thread's listeners that end no process which another listener ends; `@redline/defer` reads it. */
const kWatchers = Symbol.for('redline.signal-watchers');
const kSignalExit4 = Symbol.for('signal-exit emitter');
const shared = globalThis as Record<symbol, unknown>;

/**
 * Calls back before SIGTERM ends the process, and lets it end by the signal afterwards. If others listen, it only calls back: they
 * end the process, or do not. A second signal does not wait.
 *
 * @returns ends it
 */
export function beforeEndBySignal(act: () => Promise<void>): () => void {
  let isEnding = false;
  const stop = (): void => {
    process.removeListener(SIGNAL, listener);
    if (isListening) count(-1);
    isListening = false;
  };
  const end = (): void => {
    stop();
    process.kill(process.pid, SIGNAL);
  };
  const listener = (): void => {
    if (!isAlone()) return void act();
    if (isEnding) return end();
    isEnding = true;
    void act().finally(end);
  };
  let isListening = true;
  count(1);
  process.on(SIGNAL, listener);
  return stop;
}

function count(change: number): void {
  shared[kWatchers] = numberOf(shared[kWatchers]) + change;
}

/**
 * The listeners of signal-exit, which many packages have, end the process only if all listeners are their own: they would wait for
 * this one. It counts its versions in the same way.
 */
function isAlone(): boolean {
  const { __signal_exit_emitter__: third } = process as { __signal_exit_emitter__?: unknown };
  const others = [third, shared[kSignalExit4]].map((emitter) =>
    numberOf((emitter as { count?: unknown } | undefined)?.count),
  );
  const known = numberOf(shared[kWatchers]) + others[0]! + others[1]!;
  return process.listenerCount(SIGNAL) <= known;
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
