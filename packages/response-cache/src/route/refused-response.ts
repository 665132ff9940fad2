import type { ServerResponse } from 'node:http';
import type { Kept } from '../answer/answer-options.ts';
import type { CachedRoute } from './cached-route.ts';

/**
 * Forgets the response made for `raw` if that still ends as a failure: code below the cache may refuse a response after its
 * handler, for example because its deferred work is not safe, and a retry must reach the handler.
 */
export function forgetRefused(
  made: Kept,
  key: string,
  { cache }: CachedRoute,
  raw: ServerResponse,
): void {
  // An old response that is sent in place of a failure stays kept.
  if (typeof made !== 'string' && made.source !== 'made') return;
  raw.once('close', () => {
    // If the store is down, that has been logged, and nothing was stored either.
    if (raw.statusCode >= 500) cache.delete(key).catch(() => {});
  });
}
