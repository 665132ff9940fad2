import type { AnswerOptions, Kept, Outcome, Producer } from '../answer/answer-options.ts';
import { due } from '../cache/read-through.ts';
import type { CachedRoute, CacheRequest } from './cached-route.ts';
import { headKeyOf } from './key/request-key.ts';
import type { ServerResponse } from 'node:http';

/** Returns the key under which a response made for `request` is kept. */
export function madeKeyOf(request: CacheRequest, key: string): string {
  return request.method === 'HEAD' ? headKeyOf(key) : key;
}

/**
 * Returns the response to `request`, kept or made. HEAD gets the response kept for GET; one made for HEAD is kept apart,
 * because a handler may look at the method.
 */
export function answerRoute(
  { cache }: CachedRoute,
  { request, key }: { readonly request: CacheRequest; readonly key: string },
  produce: Producer,
  options: AnswerOptions,
): Kept | Promise<Outcome> {
  if (request.method !== 'HEAD') return cache.answer(key, produce, options);
  return Promise.resolve(cache.peek(key, options)).then((found) =>
    found === undefined || found === due ? cache.answer(headKeyOf(key), produce, options) : found,
  );
}

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
