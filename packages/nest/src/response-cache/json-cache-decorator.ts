import { checkTtl, refuseUnknown, type CacheRequest, type JsonCacheOptions } from './options.ts';
import { JsonCacheInterceptor } from './json-cache-interceptor.ts';
import { jsonCacheMetadata } from './route-plan.ts';

const interceptorsMetadata = '__interceptors__';

/**
 * Caches what a GET route returns, as the JSON text it is sent as. HEAD uses the same answer.
 *
 * Guards run before the cache. Interceptors and pipes of the method run when its handler does, wherever their
 * decorators stand; interceptors of the controller and the app run on every request and meet the JSON text.
 *
 * Never stored: an answer with a status other than the route's own or outside 2xx, one that sets a cookie, one the
 * handler sent itself. Only the body is kept: a header that the handler sets goes to its own caller; `@Header()` goes to all.
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
  options: JsonCacheOptions<Request> = {},
): MethodDecorator {
  refuseUnknown('@JsonCache', options, ['ttl', 'key', 'identify']);
  checkTtl(options.ttl);
  return (_target, _name, descriptor: PropertyDescriptor) => {
    const handler: object = descriptor.value;
    Reflect.defineMetadata(jsonCacheMetadata, options, handler);
    // First of the method's own, so that the others make the object the text is made of.
    const others: unknown[] = Reflect.getMetadata(interceptorsMetadata, handler) ?? [];
    Reflect.defineMetadata(interceptorsMetadata, [JsonCacheInterceptor, ...others], handler);
  };
}
