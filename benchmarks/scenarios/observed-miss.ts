// What it costs to observe what a request is read of: each request is a miss, of a route that observes and of one that does not.
import { join } from 'node:path';
import { defineConfig } from '@redline/lab';
import { product } from '../requests.ts';

const server = join(import.meta.dirname, '../contenders/observed-miss.js');

export default defineConfig({
  name: 'observed-miss',
  title: 'A miss of a cached route, observed and not',
  requests: ['/'],
  precision: { restarts: 4, blocks: 6, sliceMs: 200, warmupMs: 2_000, latencyMs: 200 },
  quick: { restarts: 2, blocks: 3, warmupMs: 1_000, latencyMs: 100 },
  variants: (['fastify', 'express'] as const).flatMap((framework) =>
    (['ignored', 'observed'] as const).map((reads) => ({
      name: `${framework}, ${reads}`,
      note: `reads: '${reads}'`,
      command: ['node', server, framework, reads],
    })),
  ),

  async setup() {
    return { env: { PRODUCT: product } };
  },
});
