// What Nest adds to a cached response, where it is answered in the hook and where the engine answers it: beside the Fastify
// below Nest alone. No lines are logged, which would make the share of Nest look smaller.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { defineConfig } from '@redline/lab';
import { browserHeaders, product } from '../requests.ts';

const server = join(import.meta.dirname, '../contenders/nest-tax.js');
const places = { hook: 'a hit in the hook', engine: 'a hit in the engine' };
/** What every response says that is its own. */
const own = new Set(['date']);
const { 'Cache-Control': _, ...headers } = browserHeaders;

export default defineConfig({
  name: 'nest-tax',
  title: 'A cached response, with Nest and without',
  requests: [{ path: '/cached', headers }],
  load: { connections: 64, openLoopRps: 1_000 },
  precision: { restarts: 6, blocks: 4, sliceMs: 200, warmupMs: 2_000, latencyMs: 200 },
  quick: { restarts: 2, blocks: 3, warmupMs: 1_000, latencyMs: 100 },
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

  /** The same bytes, and from the third request on the same headers. */
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
