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
