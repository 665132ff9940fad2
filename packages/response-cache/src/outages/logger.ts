/** Receives one line when the store goes down and one when it is available again, e.g. `console`. */
export interface CacheLogger {
  warn(message: string): void;
  log(message: string): void;
}

/** Wraps a logger so that its errors become warnings of Node, and neither fail a request nor end the process. */
export function neverFailing(logger: CacheLogger): CacheLogger {
  const call = (level: keyof CacheLogger, line: string): void => {
    try {
      const done: unknown = logger[level](line);
      if (done instanceof Promise) done.catch((error: unknown) => warnOf(line, error));
    } catch (error) {
      warnOf(line, error);
    }
  };
  return { warn: (line) => call('warn', line), log: (line) => call('log', line) };
}

function warnOf(line: string, error: unknown): void {
  const reason = error instanceof Error ? error.message : 'it threw something other than an Error';
  process.emitWarning(`The logger of the JSON cache failed: ${reason}. Its line: ${line}`, {
    code: 'REDLINE_CACHE_LOGGER',
  });
}
