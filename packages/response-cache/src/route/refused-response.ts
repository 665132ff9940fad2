import type { ServerResponse } from 'node:http';
import type { Kept } from '../answer/flight.ts';
import type { CachedRoute } from './cached-route.ts';

/**
 * Forgets what was made for `raw` if that ends as a failure all the same: whoever stands below the cache may refuse a
 * response after its handler, as where its deferred work is not safe, and a retry must reach the handler.
 */
export function forgetRefused(
  made: Kept,
  key: string,
  { cache }: CachedRoute,
  raw: ServerResponse,
): void {
  // An old response in place of a failure stays what it was.
  if (typeof made !== 'string' && made.source !== 'made') return;
  raw.once('close', () => {
    // If the store is down, that has been logged, and nothing was stored either.
    if (raw.statusCode >= 500) cache.delete(key).catch(() => {});
  });
}
