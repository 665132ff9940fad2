export { LoggerError, type LoggerErrorCode } from './logger/errors.ts';
export { LoggerModule, type LoggerModuleAsyncOptions } from './logger/logger-module.ts';
export { NativeLogger, nativeLoggerOptions } from './logger/native-logger.ts';
export type { RunInContextOptions } from './logger/logger-core.ts';
export { NestLogger } from './logger/nest-logger.ts';
export type { CustomLines, LineKeys } from './logger/line/line-shape.ts';
export type { LineFields, ShapeOptions } from './logger/line/resolve-shape.ts';
export type {
  LoggedRoutes,
  LoggerModuleOptions,
  NativeLoggerOptions,
  RequestIdOptions,
  RequestLines,
} from './logger/options.ts';
export { getLoggerToken, InjectLogger, PinoLogger } from './logger/pino-logger.ts';
export { DEFAULT_REDACTED_PATHS, type Redaction } from './logger/line/redaction.ts';
export {
  JsonCacheError,
  jsonCacheErrorDocs,
  type JsonCacheErrorCode,
} from './response-cache/errors.ts';
export { JsonCache } from './response-cache/json-cache-decorator.ts';
export { JsonCacheInterceptor } from './response-cache/json-cache-interceptor.ts';
export { JsonCacheModule } from './response-cache/json-cache-module.ts';
export {
  JsonCacheService,
  type AnswerOf,
  type RouteCacheStats,
  type WrapOptions,
} from './response-cache/json-cache-service.ts';
export type {
  JsonCacheModuleAsyncOptions,
  JsonCacheModuleOptions,
  JsonCacheOptionsFactory,
  NamedCacheOptions,
  RouteCachePolicy,
} from './response-cache/options.ts';
export {
  CacheError,
  compressed,
  memoryStore,
  observeCaches,
  prometheusMetrics,
  redisStore,
  tieredStore,
  unobserved,
} from '@redline/response-cache';
export type {
  CacheDecision,
  CacheErrorCode,
  CacheHeader,
  CacheMeter,
  CacheLogger,
  JsonCacheStats,
  CachePolicy,
  CacheRequest,
  Cookies,
  Identify,
  IoredisClient,
  JsonStore,
  MemoryStoreOptions,
  NodeRedisClient,
  Place,
  ReadsMeaning,
  RedisClient,
  RedisStoreOptions,
  SetOptions,
  TagVersions,
  TieredStoreOptions,
} from '@redline/response-cache';
export { engine, type Engine } from '@redline/http';
export type { FastifyOptions, RedlineApplicationOptions } from './platform/options.ts';
export { RedlineFactory } from './platform/redline-factory.ts';
export { PlatformError, type PlatformErrorCode } from './platform/errors.ts';
export { AfterResponse, InjectDelivery } from './defer/after-response.ts';
export { DeferModule } from './defer/defer-module.ts';
export { DeferService } from './defer/defer-service.ts';
export {
  DeferModuleError,
  deferModuleErrorDocs,
  type DeferModuleErrorCode,
} from './defer/errors.ts';
export type {
  AfterResponseOptions,
  DeferModuleAsyncOptions,
  DeferModuleOptions,
} from './defer/options.ts';
export { defer, DeferError, defineJob, type RunDelivery } from '@redline/defer';
