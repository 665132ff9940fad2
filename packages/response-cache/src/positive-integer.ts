import { CacheError } from './errors.ts';

/** @throws {CacheError} ERR_REDLINE_CACHE_OPTION */
export function positiveInteger(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new CacheError(
    'ERR_REDLINE_CACHE_OPTION',
    `The option ${name} must be a whole number above 0; got ${String(value)}.`,
  );
}
