// The cost that Nest adds to a cached response, served in the hook and by the engine, compared with the Fastify under Nest
// alone. No lines are logged, because they would make Nest's share look smaller.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { defineConfig } from '@redline/lab';
import { browserHeaders, product } from '../requests.ts';

const server = join(import.meta.dirname, '../contenders/nest-tax.js');
const places = { hook: 'a hit in the hook', engine: 'a hit in the engine' };
/** Headers that differ between responses. */
const own = new Set(['date']);
const { 'Cache-Control': _, ...headers } = browserHeaders;

export default defineConfig({
  name: 'nest-tax',
  title: 'A cached response, with Nest and without',
  requests: [{ path: '/cached', headers }],
  load: { connections: 64, openLoopRps: 1_000 },
  precision: { restarts: 6, blocks: 4, sliceMs: 200, warmupMs: 2_000, latencyMs: 200 },
  quick: { restarts: 4, blocks: 2, warmupMs: 1_000, latencyMs: 100 },
  groups: Object.fromEntries(
    Object.entries(places).map(([at, title]) => [at, { title, baseline: `fastify/${at}` }]),
  ),
  variants: Object.keys(places).flatMap((at) =>
    ['fastify', 'nest'].map((framework) => ({
      name: `${framework}/${at}`,
      group: at,
      command: ['node', server, framework, at],
    })),
  ),

  setup: () => Promise.resolve({ env: { PRODUCT: product } }),

  /** Checks for the same bytes, and from the third request on the same headers. */
  async verify({ name, url }) {
    for (let request = 0; request < 3; request++) {
      const response = await fetch(`${url}/cached`);
      assert.equal(await response.text(), JSON.stringify(JSON.parse(product)), name);
    }
    const response = await fetch(`${url}/cached`);
    const sent = [...response.headers].filter(([header]) => !own.has(header));
    expected ??= sent;
    assert.deepEqual(sent, expected, name);
  },
});

let expected: [string, string][] | undefined;
