import { memoryStore, redisStore, tieredStore, type JsonStore } from '@redline/nest';
import type { Redis } from 'ioredis';

/** Answers are kept in Redis; without one, in the process. */
export function jsonStore(redis: Redis | undefined): JsonStore {
  return redis === undefined ? memoryStore() : redisStore(redis);
}

/** As `jsonStore`, and what this process has read stays in its memory until Redis says that it changed. */
export function memoryBeforeRedis(redis: Redis | undefined): JsonStore {
  return redis === undefined ? memoryStore() : tieredStore(redis);
}
