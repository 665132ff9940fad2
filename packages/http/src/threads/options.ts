import { errorOf } from '../own-errors.ts';

export interface ThreadsOptions {
  /** `workerData` of every thread. */
  readonly workerData?: unknown;
  /**
   * How long a thread may take to finish its open requests, in ms, before it is ended.
   * @default 10000
   */
  readonly stopTimeoutMs?: number;
  /**
   * The wait before the first restart of a thread, in ms. Every further wait is twice as long.
   * @default 100
   */
  readonly restartDelayMs?: number;
  /**
   * The longest wait before a restart, in ms. For a thread that ran for longer, waits start over at `restartDelayMs`.
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

const known: readonly (keyof ThreadsOptions)[] = [
  'workerData',
  'stopTimeoutMs',
  'restartDelayMs',
  'maxRestartDelayMs',
  'signals',
];

export function resolveOptions(options: ThreadsOptions): ResolvedOptions {
  const unknown = Object.keys(options).find(
    (name) => !known.includes(name as keyof ThreadsOptions),
  );
  if (unknown !== undefined) {
    throw errorOf(
      'ERR_REDLINE_HTTP_OPTION',
      `Unknown option "${unknown}" of runThreads. Known options: ${known.join(', ')}`,
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
    // A timer for longer than this is due at once.
    if (!(value >= 0 && value <= 0x7fff_ffff)) {
      throw errorOf(
        'ERR_REDLINE_HTTP_OPTION',
        `${name} is ${value}: it must be 0 to 2147483647 milliseconds`,
      );
    }
  }
  return { workerData, ...durations, signals };
}

export function checkCount(count: number): void {
  if (!Number.isInteger(count) || count < 1) {
    throw errorOf(
      'ERR_REDLINE_HTTP_OPTION',
      `The number of threads is ${count}: it must be 1 or more`,
    );
  }
}
