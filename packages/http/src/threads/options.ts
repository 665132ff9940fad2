import { HttpError } from '../errors.ts';

export interface ThreadsOptions {
  /** `workerData` of every thread. */
  readonly workerData?: unknown;
  /**
   * Max time for a thread to finish its open requests, in ms, before it is terminated.
   * @default 10000
   */
  readonly stopTimeoutMs?: number;
  /**
   * The wait before the first restart of a thread, in ms. Every further wait is twice as long.
   * @default 100
   */
  readonly restartDelayMs?: number;
  /**
   * Max wait before a restart, in ms. If a thread ran for longer, waits start over at `restartDelayMs`.
   * @default 30000
   */
  readonly maxRestartDelayMs?: number;
  /**
   * Signals that stop the threads and then the process.
   * @default ['SIGTERM', 'SIGINT']
   */
  readonly signals?: readonly NodeJS.Signals[];
}

export type ResolvedOptions = Required<ThreadsOptions>;

const known: Readonly<Record<keyof ThreadsOptions, true>> = {
  workerData: true,
  stopTimeoutMs: true,
  restartDelayMs: true,
  maxRestartDelayMs: true,
  signals: true,
};

export function resolveOptions(options: ThreadsOptions): ResolvedOptions {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(known, name));
  if (unknown !== undefined) {
    throw new HttpError(
      'ERR_REDLINE_HTTP_OPTION',
      `Unknown option "${unknown}" of runThreads. Known options: ${Object.keys(known).join(', ')}.`,
    );
  }
  const {
    workerData = undefined,
    stopTimeoutMs = 10_000,
    restartDelayMs = 100,
    maxRestartDelayMs = 30_000,
    signals = ['SIGTERM', 'SIGINT'],
  } = options;
  const durations = { stopTimeoutMs, restartDelayMs, maxRestartDelayMs };
  for (const [name, value] of Object.entries(durations)) {
    // Longer timers fire immediately.
    if (!(value >= 0 && value <= 0x7fff_ffff)) {
      throw wrong(name, '0 to 2147483647 milliseconds', value);
    }
  }
  return { workerData, ...durations, signals };
}

export function checkCount(count: number): void {
  if (!Number.isInteger(count) || count < 1) {
    throw wrong('count', 'a whole number above 0', count);
  }
}

function wrong(name: string, expected: string, value: unknown): HttpError {
  return new HttpError(
    'ERR_REDLINE_HTTP_OPTION',
    `The option ${name} must be ${expected}; got ${String(value)}.`,
  );
}
