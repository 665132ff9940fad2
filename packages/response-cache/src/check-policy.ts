import { inspect } from 'node:util';
import { CacheError } from './errors.ts';
import { refuseUnknown } from './known-options.ts';
import type { CachePolicy } from './policy.ts';

interface Check {
  isValid(value: unknown): boolean;
  /** What the option takes, in the words of its error. */
  readonly wanted: string;
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isFunction = (value: unknown): boolean => typeof value === 'function';
const isListOf = (value: unknown, isValid: (each: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(isValid);

function oneOf(...words: readonly string[]): Check {
  const wanted = words.map((each) => `'${each}'`).join(' or ');
  return { isValid: (value) => words.includes(value as string), wanted };
}

/* A text in place of a list would be its letters. */
const names: Check = {
  isValid: (value) => isListOf(value, isText),
  wanted: 'a list of names',
};

const checks: Readonly<Record<keyof CachePolicy<unknown>, Check | undefined>> = {
  ttl: undefined,
  stale: undefined,
  early: { isValid: (value) => typeof value === 'boolean', wanted: 'true or false' },
  tags: {
    isValid: (value) => isFunction(value) || isListOf(value, isText),
    wanted: 'a list of strings, or a function that returns one',
  },
  vary: names,
  identify: {
    isValid: (value) => value === 'public' || isFunction(value) || namesOne(value),
    wanted: "'public', { header: name }, { cookie: name } or a function that names the caller",
  },
  key: {
    isValid: (value) => isText(value) || isFunction(value),
    wanted: 'a string, or a function that returns one',
  },
  query: names,
  cookies: oneOf('ignore', 'private'),
  at: oneOf('engine', 'hook', 'handler'),
  guards: oneOf('skipped'),
};

const headers = ['x-cache', 'age', 'etag'];
const defaults: Readonly<Record<string, Check>> = {
  hosts: {
    isValid: (value) => value === 'any' || isListOf(value, isText),
    wanted: "'any' or a list of hosts",
  },
  cookies: oneOf('ignore', 'private'),
  headers: {
    isValid: (value) => isListOf(value, (each) => headers.includes(each as string)),
    wanted: `a list of ${headers.join(', ')}`,
  },
};

/**
 * A misspelt option would silently be its default.
 *
 * @throws {CacheError} ERR_REDLINE_CACHE_OPTION
 */
export function checkPolicy(
  of: string,
  policy: CachePolicy<any>,
  alsoKnown: Readonly<Record<string, true>> = {},
): void {
  refuseUnknown(of, policy, { ...checks, ...alsoKnown });
  if (typeof policy.ttl !== 'function') checkTtl(policy.ttl);
  if (policy.stale !== 0) checkTtl(policy.stale, 'stale');
  checkValues(of, policy, checks);
}

/**
 * The options that are for all routes.
 *
 * @throws {CacheError} ERR_REDLINE_CACHE_OPTION
 */
export function checkRouteDefaults(of: string, options: object): void {
  checkValues(of, options, defaults);
}

/** @throws {CacheError} ERR_REDLINE_CACHE_OPTION */
export function checkTtl(ttl: number | undefined, name = 'ttl'): number | undefined {
  if (ttl === undefined || (Number.isSafeInteger(ttl) && ttl > 0)) return ttl;
  throw new CacheError(
    'ERR_REDLINE_CACHE_OPTION',
    `The option ${name} must be a whole number of milliseconds above 0; got ${String(ttl)}.`,
  );
}

function checkValues(
  of: string,
  options: object,
  by: Readonly<Record<string, Check | undefined>>,
): void {
  for (const [name, value] of Object.entries(options)) {
    const check = by[name];
    if (value === undefined || check === undefined || check.isValid(value)) continue;
    throw new CacheError(
      'ERR_REDLINE_CACHE_OPTION',
      `The option ${name} of ${of} must be ${check.wanted}; got ${inspect(value, { depth: 1 })}.`,
    );
  }
}

function namesOne(value: unknown): boolean {
  const { header, cookie } = (value ?? {}) as { header?: unknown; cookie?: unknown };
  return isText(header) !== isText(cookie);
}
