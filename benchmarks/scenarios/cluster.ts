// Two workers of node:cluster on Node and on the engine, with both scheduling policies. The load shares the cores with them,
// and the primary's CPU counts: with round robin it accepts every connection and sends it to a worker.
import { join } from 'node:path';
import { engine } from '@redline/http';
import { defineConfig, type RedlineConfig } from '@redline/lab';
import { browserHeaders, product } from '../requests.ts';

type Group = NonNullable<RedlineConfig['groups']>[string];

const command = ['node', join(import.meta.dirname, '../contenders/http-cluster.js')];
const policies = { rr: 'round robin', none: 'a shared descriptor' };
const engines = { node: 'node:http', redline: '@redline/http' };

const loads: Record<string, Group> = {
  'c64-headers': {
    title: 'GET of 593 bytes with ten headers of a browser, 64 connections',
    requests: [{ path: '/', headers: browserHeaders }],
  },
  connections: {
    title: 'a connection for each GET of 593 bytes, 64 at a time',
    requests: [{ path: '/', headers: { Connection: 'close' } }],
  },
};

const variants = Object.keys(loads).flatMap((group) =>
  Object.entries(policies).flatMap(([policy, how]) =>
    Object.entries(engines).map(([name, module]) => ({
      name: `${name}-${policy}/${group}`,
      note: `${module}, ${how}`,
      group,
      command,
      env: { ENGINE: name, NODE_CLUSTER_SCHED_POLICY: policy },
    })),
  ),
);

export default defineConfig({
  name: 'cluster',
  title: 'Two workers of node:cluster',
  load: { connections: 64, openLoopRps: 1_000, turns: false, pin: false },
  precision: { restarts: 5, blocks: 8, sliceMs: 250, warmupMs: 2_000, latencyMs: 800 },
  quick: { restarts: 4, blocks: 3, sliceMs: 200, warmupMs: 800, latencyMs: 300 },
  groups: loads,
  variants,

  setup() {
    const serving = engine();
    const skip = variants
      .filter(({ name }) => serving.name === 'node' && name.startsWith('redline'))
      .map(({ name }) => [name, serving.name === 'node' ? serving.reason : ''] as const);
    return { env: { PRODUCT: product }, skip: Object.fromEntries(skip) };
  },
});
