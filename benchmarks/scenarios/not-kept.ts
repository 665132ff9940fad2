// What a GET pays for the engine's store whose answer is not in it: a server that keeps none, one that keeps a health check, and
// one that keeps ten thousand.
import { join } from 'node:path';
import { defineConfig } from '@redline/lab';
import { browserHeaders, product } from '../requests.ts';

const server = join(import.meta.dirname, '../contenders/http-kept.js');

export default defineConfig({
  name: 'not-kept',
  title: 'A GET whose answer is not kept, beside answers that are',
  requests: [{ path: '/', headers: browserHeaders }],
  precision: { restarts: 14, blocks: 4, sliceMs: 100, warmupMs: 1_500, latencyMs: 100 },
  quick: { restarts: 6, blocks: 3, sliceMs: 100, warmupMs: 800, latencyMs: 100 },
  variants: [0, 1, 10_000].map((count) => ({
    name: `${count} kept`,
    command: ['node', server, String(count)],
  })),

  async setup() {
    return { env: { PRODUCT: product } };
  },
});
