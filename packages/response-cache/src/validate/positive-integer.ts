import { wrongValue } from './check-values.ts';

/** @throws {CacheError} ERR_REDLINE_CACHE_OPTION */
export function positiveInteger(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw wrongValue(name, 'a whole number above 0', value);
}
