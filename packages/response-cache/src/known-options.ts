import { CacheError } from './errors.ts';

/**
 * A misspelt option would be a default that nobody asked for.
 *
 * @throws {CacheError} ERR_REDLINE_CACHE_OPTION
 */
export function refuseUnknown(of: string, options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new CacheError(
    'ERR_REDLINE_CACHE_OPTION',
    `Unknown option "${unknown}" of ${of}. Known options: ${known.join(', ')}.`,
  );
}
