export { JsonCacheError, jsonCacheErrorDocs, type JsonCacheErrorCode } from './errors.ts';
export { JsonCache } from './json-cache-decorator.ts';
export { JsonCacheInterceptor } from './json-cache-interceptor.ts';
export { JsonCacheModule } from './json-cache-module.ts';
export { JsonCacheService } from './json-cache-service.ts';
export type {
  CacheRequest,
  Identify,
  JsonCacheModuleAsyncOptions,
  JsonCacheModuleOptions,
  JsonCacheOptions,
} from './options.ts';
