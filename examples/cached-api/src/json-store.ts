import { memoryStore, redisStore, type JsonStore } from '@redline/nest';
import type { Redis } from 'ioredis';

/** Answers are kept in Redis; without one, in the process. */
export function jsonStore(redis: Redis | undefined): JsonStore {
  return redis === undefined ? memoryStore() : redisStore(redis);
}
