import type { CacheRequest } from '@redline/response-cache';
import { JsonCacheInterceptor } from './json-cache-interceptor.ts';
import { checkPolicy, type RouteCachePolicy } from './options.ts';
import { jsonCacheMetadata } from './route-plan.ts';

const interceptorsMetadata = '__interceptors__';

/**
 * Caches the result of a GET route as the JSON text that is sent. HEAD uses the same response. On a controller, caches the
 * results of all its GET routes; `@JsonCache(false)` excludes one.
 *
 * Guards run before the cache. Interceptors and pipes run when the handler does: the result as they leave it is kept, with the
 * status and the headers. (`runOnHits` of the module names the interceptors that run on every request.)
 *
 * Never stored: a response outside 2xx, one that sets a cookie or says `Cache-Control: no-store` or `private`, one the
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
    // First, so that the other interceptors produce the object that is serialised. On a class too: Nest then misses the module.
    const others: unknown[] = Reflect.getMetadata(interceptorsMetadata, handler) ?? [];
    Reflect.defineMetadata(interceptorsMetadata, [JsonCacheInterceptor, ...others], handler);
  };
}
