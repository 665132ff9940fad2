const CODE = 'REDLINE_LOGGER_CALLBACK';
/** A callback that names each request in its error would fill stderr. */
const MOST_MESSAGES = 100;

const told = new Set<string>();

/** Says that a callback of the app has failed, where neither a response nor a line can: each fault once. */
export function warnOfFault(error: unknown): void {
  const message = messageOf(error);
  if (told.has(message) || told.size === MOST_MESSAGES) return;
  told.add(message);
  process.emitWarning(`A callback given to LoggerModule failed: ${message}`, { code: CODE });
}

/** A rejection without a listener would end the process: no caller of these callbacks awaits their result. */
export function withoutRejection<Result>(result: Result): Result {
  if (result instanceof Promise) result.catch(warnOfFault);
  return result;
}

type Callback = (...args: never[]) => unknown;

/** The callback, with a rejection reported as a warning. */
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
