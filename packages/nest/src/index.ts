export { LoggerError, type LoggerErrorCode } from './logger/errors.ts';
export { getLoggerToken, InjectLogger } from './logger/inject-logger.ts';
export { LoggerModule, type LoggerModuleAsyncOptions } from './logger/logger-module.ts';
export { NativeLogger, nativeLoggerOptions } from './logger/native-logger.ts';
export type { RunInContextOptions } from './logger/logger-core.ts';
export { NestLogger } from './logger/nest-logger.ts';
export type { CustomLines } from './logger/custom-lines.ts';
export type { LineKeys } from './logger/line-shape.ts';
export type { LineFields, ShapeOptions } from './logger/resolve-shape.ts';
export type {
  LoggedRoutes,
  LoggerModuleOptions,
  NativeLoggerOptions,
  RequestIdOptions,
  RequestLines,
} from './logger/options.ts';
export { PinoLogger } from './logger/pino-logger.ts';
export { DEFAULT_REDACTED_PATHS, type Redaction } from './logger/redaction.ts';
export * from './response-cache/index.ts';
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
export * from './platform/index.ts';
export * from './defer/index.ts';
