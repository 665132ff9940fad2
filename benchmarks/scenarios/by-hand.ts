// The cost of the cache and the logger compared with the few lines a team writes itself, on the same Nest and Fastify: on
// node:http and on the engine, logging only errors and every response.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineConfig, type ServerUnderTest } from '@redline/lab';
import { obtainRedis } from '@redline/services';
import { product } from '../requests.ts';
import { byHandGroups, byHandVariants } from '../contenders/by-hand-variants.ts';

const server = join(import.meta.dirname, '../contenders/by-hand/server.js');

export default defineConfig({
  name: 'by-hand',
  title: 'Cache and logger, by hand and ours',
  requests: ['/cached'],
  load: { connections: 64, openLoopRps: 1_000 },
  precision: { restarts: 6, blocks: 2, sliceMs: 200, warmupMs: 1_500, latencyMs: 200 },
  quick: { restarts: 4, blocks: 2, warmupMs: 700, latencyMs: 100 },
  groups: Object.fromEntries(
    Object.entries(byHandGroups).map(([group, { title }]) => [
      group,
      { title, baseline: `${group}/hand+hand` },
    ]),
  ),
  variants: Object.entries(byHandGroups).flatMap(([group, { env }]) =>
    Object.entries(byHandVariants).map(([parts, note]) => ({
      name: `${group}/${parts}`,
      note,
      group,
      command: ['node', server, ...parts.split('+')],
      env,
    })),
  ),

  async setup() {
    const redis = await obtainRedis();
    if (redis.url === undefined) throw new Error(redis.missing);
    return { env: { PRODUCT: product, REDIS_URL: redis.url }, stop: redis.stop };
  },

  /** Variants that log every response have a line for each; those that log errors have none. */
  async verify(under) {
    const count = 20;
    for (let each = 0; each < count; each++) {
      await (await fetch(`${under.url}/cached?checked`)).text();
    }
    const expected = under.name.startsWith('logged/') ? count : 0;
    for (let tries = 0; tries < 100 && (await countLines(under)) < expected; tries++) {
      await sleep(20);
    }
    assert.equal(await countLines(under), expected, `log lines of ${under.name}`);
  },
});

async function countLines(under: ServerUnderTest): Promise<number> {
  return (await under.stdout()).split('/cached?checked').length - 1;
}
