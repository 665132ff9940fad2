export { JsonCacheError, jsonCacheErrorDocs, type JsonCacheErrorCode } from './errors.ts';
export { JsonCache } from './json-cache-decorator.ts';
export { JsonCacheInterceptor } from './json-cache-interceptor.ts';
export { JsonCacheModule } from './json-cache-module.ts';
export {
  JsonCacheService,
  type AnswerOf,
  type RouteCacheStats,
  type WrapOptions,
} from './json-cache-service.ts';
export type {
  JsonCacheModuleAsyncOptions,
  JsonCacheModuleOptions,
  JsonCacheOptionsFactory,
  NamedCacheOptions,
  RouteCachePolicy,
} from './options.ts';
