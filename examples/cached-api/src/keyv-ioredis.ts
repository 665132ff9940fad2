import type { Redis } from 'ioredis';
import { Keyv } from 'keyv';

/** cache-manager's store over the ioredis client the application already has. No namespace, for Keyv would write it into each key twice. */
export function keyvOver(redis: Redis | undefined): Keyv {
  if (redis === undefined) return new Keyv();
  return new Keyv({
    useKeyPrefix: false,
    store: {
      opts: {},
      get: (key: string) => redis.get(key).then((value) => value ?? undefined),
      set: (key: string, value: string, ttl?: number) =>
        ttl === undefined ? redis.set(key, value) : redis.set(key, value, 'PX', ttl),
      delete: async (key: string) => (await redis.del(key)) > 0,
      clear: () => redis.flushdb(),
    },
  });
}
