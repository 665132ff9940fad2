import type { Clock } from './clock.ts';

/** Receives failures and recoveries, e.g. `console`. */
export interface DeferLogger {
  warn(message: string, error?: unknown): void;
  log(message: string): void;
}

/** Wraps the logger: its own errors neither lose a job nor end the process, but become Node warnings. */
export function neverFailing(logger: DeferLogger): DeferLogger {
  const guard = (line: string, write: () => unknown): void => {
    try {
      const done = write();
      if (done instanceof Promise) done.catch((error: unknown) => warnOf(line, error));
    } catch (error) {
      warnOf(line, error);
    }
  };
  return {
    warn: (line, ...error) => guard(line, () => logger.warn(line, ...error)),
    log: (line) => guard(line, () => logger.log(line)),
  };
}

function warnOf(line: string, error: unknown): void {
  const reason = error instanceof Error ? error.message : 'it threw something other than an Error';
  process.emitWarning(`The logger of defer failed: ${reason}. Its line: ${line}`, {
    code: 'REDLINE_DEFER_LOGGER',
  });
}

const burst = 10;
const everyMs = 1_000;

/** Logs the first of a burst individually, then one count per second. */
export class LogThrottle {
  readonly #clock: Clock;
  readonly #logCount: (count: number) => void;
  #logged = 0;
  #suppressed = 0;

  constructor(clock: Clock, logCount: (count: number) => void) {
    this.#clock = clock;
    this.#logCount = logCount;
  }

  log(logOne: () => void): void {
    if (this.#logged === 0) this.#clock.after(everyMs, () => this.#end(), false);
    if (this.#logged < burst) {
      this.#logged++;
      logOne();
    } else {
      this.#suppressed++;
    }
  }

  #end(): void {
    const suppressed = this.#suppressed;
    this.#logged = 0;
    this.#suppressed = 0;
    if (suppressed > 0) this.#logCount(suppressed);
  }
}
