import { CacheError } from './errors.ts';
import { refuseUnknown } from './known-options.ts';
import type { CachePolicy } from './policy.ts';

const known: Readonly<Record<keyof CachePolicy<unknown>, true>> = {
  ttl: true,
  stale: true,
  early: true,
  tags: true,
  vary: true,
  identify: true,
  key: true,
  query: true,
  cookies: true,
  at: true,
  guards: true,
};

/**
 * A misspelt option would silently be its default.
 *
 * @throws {CacheError} ERR_REDLINE_CACHE_OPTION
 */
export function checkPolicy(
  of: string,
  policy: CachePolicy<any>,
  alsoKnown: readonly string[] = [],
): void {
  refuseUnknown(of, policy, [...Object.keys(known), ...alsoKnown]);
  if (typeof policy.ttl !== 'function') checkTtl(policy.ttl);
  if (policy.stale !== 0) checkTtl(policy.stale, 'stale');
  checkWord(of, 'at', policy.at, ['engine', 'hook', 'handler']);
  checkWord(of, 'guards', policy.guards, ['skipped']);
}

/** @throws {CacheError} ERR_REDLINE_CACHE_OPTION */
export function checkTtl(ttl: number | undefined, name = 'ttl'): number | undefined {
  if (ttl === undefined || (Number.isSafeInteger(ttl) && ttl > 0)) return ttl;
  throw new CacheError(
    'ERR_REDLINE_CACHE_OPTION',
    `The option ${name} must be a whole number of milliseconds above 0; got ${String(ttl)}.`,
  );
}

function checkWord(of: string, name: string, value: unknown, valid: readonly string[]): void {
  if (value === undefined || valid.includes(value as string)) return;
  throw new CacheError(
    'ERR_REDLINE_CACHE_OPTION',
    `The option ${name} of ${of} must be ${valid.map((each) => `'${each}'`).join(' or ')}; got ${String(value)}.`,
  );
}
