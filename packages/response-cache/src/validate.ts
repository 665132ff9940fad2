import { inspect } from 'node:util';
import { CacheError } from './errors.ts';

/** The values that an option accepts. */
export interface Check {
  isValid(value: unknown): boolean;
  /** Description of the values, for the error message. */
  readonly wanted: string;
}

export const isText = (value: unknown): boolean => typeof value === 'string';
export const isFunction = (value: unknown): boolean => typeof value === 'function';

export function isListOf(value: unknown, isValid: (each: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isValid);
}

export const aText: Check = { isValid: isText, wanted: 'a string' };
export const aBoolean: Check = {
  isValid: (value) => typeof value === 'boolean',
  wanted: 'true or false',
};
export const anObject: Check = {
  isValid: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  wanted: 'an object',
};
/* A text in place of a list would be read as a list of its letters. */
export const names: Check = {
  isValid: (value) => isListOf(value, isText),
  wanted: 'a list of names',
};
export const aLogger: Check = {
  isValid: (value) =>
    value === false ||
    (value instanceof Object &&
      isFunction((value as { warn?: unknown }).warn) &&
      isFunction((value as { log?: unknown }).log)),
  wanted: 'false or an object with warn and log, such as console',
};

export function aFunction(does: string): Check {
  return { isValid: isFunction, wanted: `a function ${does}` };
}

export function oneOf(...words: readonly string[]): Check {
  const wanted = words.map((each) => `'${each}'`).join(' or ');
  return { isValid: (value) => words.includes(value as string), wanted };
}

/**
 * Refuses a value of the wrong type: most would silently do something unintended.
 *
 * @throws {CacheError} ERR_REDLINE_CACHE_OPTION
 */
export function checkValues(
  of: string,
  options: object,
  by: Readonly<Record<string, Check | undefined>>,
): void {
  for (const [name, value] of Object.entries(options)) {
    const check = by[name];
    if (value === undefined || check === undefined || check.isValid(value)) continue;
    throw wrongValue(`${name} of ${of}`, check.wanted, value);
  }
}

/** @throws {CacheError} ERR_REDLINE_CACHE_OPTION */
export function checkTags(of: string, tags: unknown): void {
  if (tags !== undefined && !isListOf(tags, isText))
    throw wrongValue(`tags of ${of}`, 'a list of strings', tags);
}

export function wrongValue(option: string, wanted: string, value: unknown): CacheError {
  return new CacheError(
    'ERR_REDLINE_CACHE_OPTION',
    `The option ${option} must be ${wanted}; got ${inspect(value, { depth: 1 })}.`,
  );
}

/**
 * Refuses unknown options: a misspelt one would silently have its default. `known` is an object, so that the compiler keeps it in
 * step with the type of the options.
 *
 * @throws {CacheError} ERR_REDLINE_CACHE_OPTION
 */
export function refuseUnknown<Options extends object>(
  of: string,
  options: Options,
  known: Readonly<Record<keyof Options, unknown>>,
): void {
  if (!anObject.isValid(options)) {
    throw new CacheError(
      'ERR_REDLINE_CACHE_OPTION',
      `The options of ${of} must be an object; got ${inspect(options, { depth: 1 })}.`,
    );
  }
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(known, name));
  if (unknown === undefined) return;
  throw new CacheError(
    'ERR_REDLINE_CACHE_OPTION',
    `Unknown option "${unknown}" of ${of}. Known options: ${Object.keys(known).join(', ')}.`,
  );
}

/** @throws {CacheError} ERR_REDLINE_CACHE_OPTION */
export function positiveInteger(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw wrongValue(name, 'a whole number above 0', value);
}

/** Ignores the rejection of a promise in place of a value: it is refused, and its rejection must not end the process as well. */
export function ignoreRejection<Value>(value: Value): Value {
  if (value instanceof Promise) value.catch(() => {});
  return value;
}
