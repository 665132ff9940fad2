import type { AnswerOptions, Kept, Outcome, Producer } from '../answer/flight.ts';
import { due } from '../cache/answers.ts';
import type { CachedRoute, CacheRequest } from './cached-route.ts';
import { headKeyOf } from './request-key.ts';

/** The key under which what is made for `request` is kept. */
export function madeKeyOf(request: CacheRequest, key: string): string {
  return request.method === 'HEAD' ? headKeyOf(key) : key;
}

/**
 * The response to `request`, kept or made. HEAD gets what GET has; what is made for HEAD is kept apart, because a handler
 * may look at the method.
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
