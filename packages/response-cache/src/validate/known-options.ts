import { inspect } from 'node:util';
import { anObject } from './check-values.ts';
import { CacheError } from '../errors.ts';

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
