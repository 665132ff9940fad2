import { Redis, type RedisOptions } from 'ioredis';

/** The Redis in REDIS_URL; without one the rungs keep their answers in the process. */
export function connectRedis(options: RedisOptions = {}): Redis | undefined {
  const url = process.env.REDIS_URL;
  return url ? new Redis(url, options) : undefined;
}
