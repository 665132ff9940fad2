import assert from 'node:assert/strict';
import { test } from 'node:test';
// Its loads are programs of the build.
import { runBench } from '../../dist/bench/run-bench.js';
import { resolvePlans } from '../../dist/config/resolve-plan.js';

const server = `require('node:http').createServer((request, response) => response.end('ok')).listen(process.env.PORT)`;
const silent = { phase: () => {}, measured: () => {} };

test('a run that takes fewer restarts, for want of time, takes none from another', async () => {
  const [plan] = resolvePlans(
    {
      name: 'short',
      requests: ['/'],
      load: { connections: 2, pin: false },
      variants: [{ name: 'server', command: ['node', '-e', server] }],
    },
    '/',
    {},
  );
  const precision = { restarts: 6, blocks: 1, sliceMs: 100, warmupMs: 0, latencyMs: 50 };
  const short = { ...plan!, precision, until: Date.now() };
  await runBench([short], () => silent, new AbortController().signal);
  assert.equal(short.precision.restarts, 4);
  assert.equal(precision.restarts, 6);
});
