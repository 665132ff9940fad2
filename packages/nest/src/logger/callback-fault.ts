const CODE = 'REDLINE_LOGGER_CALLBACK';
/** A callback that names each request in its error would fill stderr. */
const MAX_MESSAGES = 100;

const reported = new Set<string>();

/** Warns that a callback of the app has failed, if neither a response nor a line can report it: each fault once. */
export function warnOfFault(error: unknown): void {
  const message = messageOf(error);
  if (reported.has(message) || reported.size === MAX_MESSAGES) return;
  reported.add(message);
  process.emitWarning(`A callback given to LoggerModule failed: ${message}`, { code: CODE });
}

/** Turns a rejection into a warning: without a listener it would end the process, and callers do not await these callbacks. */
export function withoutRejection<Result>(result: Result): Result {
  if (result instanceof Promise) result.catch(warnOfFault);
  return result;
}

type Callback = (...args: never[]) => unknown;

/** Wraps a callback so that a rejection is reported as a warning. */
export function neverRejecting<Given extends Callback>(callback: Given): Given {
  const safe = function (this: unknown, ...args: never[]): unknown {
    return withoutRejection(Reflect.apply(callback, this, args));
  };
  // pino gives a censor the path only if it takes two arguments.
  Object.defineProperty(safe, 'length', { value: callback.length });
  return Object.assign(safe, callback) as unknown as Given;
}

function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    return 'its error has no message';
  }
}
