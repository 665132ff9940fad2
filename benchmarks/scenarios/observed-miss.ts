// The cost of observing which parts of a request are read. Each request is a miss of a Fastify route that reads a value from
// Redis, responds with it and keeps the response in Redis; observed, and not.
import { join } from 'node:path';
import { defineConfig } from '@redline/lab';
import { startRedis } from '@redline/services';
import { product } from '../requests.ts';

const server = join(import.meta.dirname, '../contenders/observed-miss.js');

export default defineConfig({
  name: 'observed-miss',
  title: 'A miss of a cached route, observed and not',
  requests: ['/'],
  precision: { restarts: 6, blocks: 8, sliceMs: 300, warmupMs: 6_000, latencyMs: 200 },
  quick: { restarts: 4, blocks: 4, sliceMs: 300, warmupMs: 1_500, latencyMs: 100 },
  variants: (['ignored', 'observed'] as const).map((reads) => ({
    name: reads,
    note: `reads: '${reads}'`,
    command: ['node', server, reads],
  })),

  async setup() {
    const redis = await startRedis();
    if (redis === undefined) throw new Error('This needs a redis-server on PATH.');
    return { env: { PRODUCT: product, REDIS_URL: redis.url }, stop: redis.stop };
  },
});
