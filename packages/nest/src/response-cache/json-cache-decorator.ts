import type { CacheRequest } from '@redline/response-cache';
import { JsonCacheInterceptor } from './json-cache-interceptor.ts';
import { checkPolicy, type RouteCachePolicy } from './options.ts';
import { jsonCacheMetadata } from './route-plan.ts';

const interceptorsMetadata = '__interceptors__';

/**
 * Caches what a GET route returns, as the JSON text it is sent as. HEAD uses the same answer. On a controller: what each of
 * its GET routes returns; `@JsonCache(false)` keeps one out.
 *
 * Guards run before the cache. Interceptors and pipes run when the handler does: what they make of its result is what is
 * kept, with the status and the headers. (`runOnHits` of the module names the interceptors that run on every request.)
 *
 * Never stored: an answer outside 2xx, one that sets a cookie or says `Cache-Control: no-store` or `private`, one the
 * handler sent itself.
 *
 * @throws {CacheError} ERR_REDLINE_CACHE_OPTION
 * @example
 * ```ts
 * @Get()
 * @JsonCache({ ttl: 30_000 })
 * list(@Query('page') page: string) {
 *   return this.articles.list(page);
 * }
 *
 * @Get('mine')
 * @JsonCache({ ttl: 30_000, identify: (request: UserRequest) => request.user.id })
 * mine(@Req() request: UserRequest) {
 *   return this.articles.of(request.user);
 * }
 * ```
 */
export function JsonCache<Request = CacheRequest>(
  policy: RouteCachePolicy<Request> | false = {},
): MethodDecorator & ClassDecorator {
  if (policy !== false) checkPolicy('@JsonCache', policy);
  return (target: object, _name?: string | symbol, descriptor?: PropertyDescriptor) => {
    const handler: object = descriptor?.value ?? target;
    Reflect.defineMetadata(jsonCacheMetadata, policy, handler);
    if (policy === false) return;
    // First, so that the others make the object the text is made of. On a class too: Nest then misses the module.
    const others: unknown[] = Reflect.getMetadata(interceptorsMetadata, handler) ?? [];
    Reflect.defineMetadata(interceptorsMetadata, [JsonCacheInterceptor, ...others], handler);
  };
}
