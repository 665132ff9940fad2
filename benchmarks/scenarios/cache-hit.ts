// The cost of a hit: from Redis and from memory in front of it, without tags, with one and with three.
import { join } from 'node:path';
import { defineConfig } from '@redline/lab';
import { startRedis } from '@redline/services';
import { product } from '../requests.ts';

const server = join(import.meta.dirname, '../contenders/cache-hit.js');
const notes = { redis: 'redisStore', memory: 'tieredStore' } as const;

export default defineConfig({
  name: 'cache-hit',
  title: 'A cached route answers from its store',
  requests: ['/'],
  precision: { restarts: 4, blocks: 4, sliceMs: 200, warmupMs: 2_000, latencyMs: 200 },
  quick: { restarts: 4, blocks: 3, warmupMs: 1_000, latencyMs: 100 },
  variants: (['redis', 'memory'] as const).flatMap((store) =>
    [0, 1, 3].map((tags) => ({
      name: `${store}, ${tags} tag${tags === 1 ? '' : 's'}`,
      note: notes[store],
      command: ['node', server, store, String(tags)],
    })),
  ),

  async setup() {
    const redis = await startRedis();
    if (redis === undefined) throw new Error('This needs a redis-server on PATH.');
    return { env: { PRODUCT: product, REDIS_URL: redis.url }, stop: redis.stop };
  },
});
