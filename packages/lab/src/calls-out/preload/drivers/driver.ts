import type { OpenCall } from '../recorder.ts';

export type Method = (this: unknown, ...args: unknown[]) => unknown;

/** A class of a driver, whose methods are wrapped in place. */
export interface Wrappable {
  prototype?: object;
}

/** Puts a wrapper around a method of a class. It keeps its name and length; without such a method nothing changes. */
export function wrapMethod(
  target: object | undefined,
  name: string,
  wrap: (original: Method) => Method,
): void {
  const methods = target as Record<string, unknown> | undefined;
  const original = methods?.[name];
  if (methods === undefined || typeof original !== 'function') return;
  const wrapped = wrap(original as Method);
  Object.defineProperties(wrapped, {
    name: { value: original.name, configurable: true },
    length: { value: original.length, configurable: true },
  });
  methods[name] = wrapped;
}

/**
 * Returns a promise that settles as the given one does, and records it. It is another promise: one with a second handler would not
 * be reported as unhandled when the app ignores its rejection.
 */
export function recorded(promise: unknown, open: OpenCall): unknown {
  if (!isThenable(promise)) return promise;
  return promise.then(
    (value) => {
      open.end();
      return value;
    },
    (error: unknown) => {
      open.end(error ?? new Error('rejected'));
      throw error;
    },
  );
}

/** Calls a method whose last function argument is its callback, or that returns a promise. */
export function callRecorded(
  method: Method,
  self: unknown,
  args: unknown[],
  open: OpenCall,
): unknown {
  const at = args.findLastIndex(isCallback);
  if (at <= 0) return recorded(method.apply(self, args), open);
  return method.apply(self, args.with(at, open.callback(args[at] as Method)));
}

/** A class among the arguments is no callback: drivers pass one for the form of the result. */
export function isCallback(value: unknown): boolean {
  return typeof value === 'function' && !/^class\b/.test(Function.prototype.toString.call(value));
}

function isThenable(value: unknown): value is Promise<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}
