import { optionError, type DeferError } from './errors.ts';

/** @throws {DeferError} ERR_REDLINE_DEFER_OPTION */
export function positive(name: string, value: unknown): number {
  if (typeof value === 'number' && value > 0 && value <= Number.MAX_SAFE_INTEGER) return value;
  throw wrong(name, 'a number above 0', value);
}

/** @throws {DeferError} ERR_REDLINE_DEFER_OPTION */
export function positiveInteger(name: string, value: unknown): number {
  if (Number.isSafeInteger(value) && (value as number) > 0) return value as number;
  throw wrong(name, 'a whole number above 0', value);
}

/** @throws {DeferError} ERR_REDLINE_DEFER_OPTION */
export function wholeNumber(name: string, value: unknown): number {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw wrong(name, 'a whole number, 0 or above', value);
}

/** @throws {DeferError} ERR_REDLINE_DEFER_OPTION */
export function oneOf<const T>(name: string, value: unknown, allowed: readonly T[]): T {
  if (allowed.includes(value as T)) return value as T;
  throw wrong(name, `one of ${allowed.map((each) => `'${String(each)}'`).join(', ')}`, value);
}

/**
 * Rejects unknown names, because a mistyped one would silently select the default. `known` is an object, so that the
 * compiler checks it against the options' type.
 *
 * @throws {DeferError} ERR_REDLINE_DEFER_OPTION
 */
export function refuseUnknown<Name extends string>(
  of: string,
  given: unknown,
  known: Readonly<Record<Name, true>>,
): void {
  if (given === undefined) return;
  if (typeof given !== 'object' || given === null) {
    throw optionError(`The options of ${of} must be an object; got ${String(given)}.`);
  }
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(known, name)) continue;
    throw optionError(
      `Unknown option "${name}" of ${of}. Known options: ${Object.keys(known).join(', ')}.`,
    );
  }
}

function wrong(name: string, what: string, value: unknown): DeferError {
  const shown = typeof value === 'string' ? `'${value}'` : String(value);
  return optionError(`The option ${name} must be ${what}; got ${shown}.`);
}

/** True for a promise of any library. */
export function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}
