export { CacheError, cacheErrorDocs, type CacheErrorCode } from './errors.ts';
export type { AnswerOptions, Outcome, Producer } from './flight.ts';
export { JsonCache } from './json-cache.ts';
export type { Found, JsonStore } from './json-store.ts';
export { memoryStore, MemoryStore, type MemoryStoreOptions } from './memory-store.ts';
export type { CacheLogger, JsonCacheOptions } from './options.ts';
export { redisStore, RedisStore, type RedisClient, type RedisStoreOptions } from './redis-store.ts';
export type { JsonCacheStats } from './stats.ts';
export { Unshared, unshared } from './unshared.ts';
