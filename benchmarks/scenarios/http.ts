// Serving requests: Node, Fastify, ours under both, and other runtimes. Variants are named CONTENDER/LOAD.
import { defineConfig, type RedlineConfig } from '@redline/lab';
import { engine } from '@redline/http';
import { join } from 'node:path';
import { obtainContenders, programs, type Contender } from '../contenders/obtain.ts';
import { browserHeaders, orderOf, product, sumOf } from '../requests.ts';

type Group = NonNullable<RedlineConfig['groups']>[string];

interface Entry {
  name: string;
  note: string;
  command: string[];
  env?: Record<string, string>;
  needs?: Contender | 'addon';
}

const contenders = join(import.meta.dirname, '../contenders');
const raw = ['node', join(contenders, 'http-raw.js')];
const fastify = ['node', join(contenders, 'http-fastify.js')];
const processes = ['node', join(contenders, 'http-processes.js')];
const ours = { env: { ENGINE: 'redline' }, needs: 'addon' as const };

const onNode: Entry[] = [
  { name: 'node-http', note: 'node:http, no framework', command: raw },
  { name: 'fastify', note: 'Fastify 5 on node:http', command: fastify },
  { name: 'redline', note: '@redline/http, no framework', command: raw, ...ours },
  { name: 'fastify-redline', note: 'Fastify 5 on @redline/http', command: fastify, ...ours },
];
const others: Entry[] = [
  {
    name: 'bun',
    note: 'Bun.serve',
    command: [programs.bun, join(contenders, 'http-bun.js')],
    needs: 'bun',
  },
  { name: 'go', note: 'net/http', command: [programs['go-http']], needs: 'go-http' },
  { name: 'hyper', note: 'hyper, one thread of tokio', command: [programs.hyper], needs: 'hyper' },
];

/** The loads that the floor can serve, with its response if that is not the product. */
const floorOf: Record<string, Record<string, string>> = {
  c1: {},
  c4: {},
  c64: {},
  'c64-headers': {},
  c200: {},
  'pipelined-16': {},
  post: { BODY: sumOf(orderOf(16, 1_024)) },
  'json-post-10k': { BODY: sumOf(orderOf(240, 10_240)) },
  stream: { CHUNKS: '16' },
};

const onTwoCores: Entry[] = [
  { name: 'node-http', note: 'node:http, one process', command: raw },
  { name: 'node-cluster', note: 'node:cluster, 2 workers', command: processes },
  { name: 'redline', note: '@redline/http, one process', command: raw, ...ours },
  { name: 'redline-threads', note: 'runThreads(2)', command: processes, ...ours },
];

/** Repeats a path: requests are sent in turn. */
function times(count: number, path: string): string[] {
  return Array.from({ length: count }, () => path);
}

const loads: Record<string, Group> = {
  c1: {
    title: 'GET of 593 bytes, one connection, one request at a time',
    load: { connections: 1 },
  },
  c4: { title: 'GET of 593 bytes, 4 connections', load: { connections: 4 } },
  c64: { title: 'GET of 593 bytes, 64 connections' },
  'c64-headers': {
    title: 'the same, with ten headers of a browser',
    requests: [{ path: '/', headers: browserHeaders }],
  },
  c200: { title: 'GET of 593 bytes, 200 connections', load: { connections: 200 } },
  short: {
    title: 'ten requests a connection: every tenth says Connection: close',
    requests: [...times(9, '/'), { path: '/', headers: { Connection: 'close' } }],
  },
  'pipelined-16': { title: '16 requests at a time on each connection', load: { pipeline: 16 } },
  post: { title: 'POST of 1 KB JSON, parsed', requests: [orderOf(16, 1_024)] },
  'json-post-10k': { title: 'POST of 10 KB JSON, parsed', requests: [orderOf(240, 10_240)] },
  stream: {
    title: 'GET of 1 MiB in 16 chunks',
    requests: ['/stream'],
    load: { connections: 16, openLoopRps: 200 },
    precision: { sliceMs: 400 },
    quick: { sliceMs: 400 },
  },
  'c64-busy': {
    title: 'one request in eight keeps the CPU for 5 ms: latency of the others',
    requests: [...times(7, '/'), { path: '/busy', timed: false }],
    // 64 at once every 128 ms: the eight slow ones take 40 ms together.
    load: { openLoopRps: 500, burst: 64 },
    precision: { blocks: 4, latencyMs: 3_000 },
    quick: { blocks: 2, latencyMs: 2_000 },
  },
  'threads-2': {
    title: 'two threads or processes, 64 connections; nothing is pinned',
    load: { pin: false },
  },
  idle: {
    title: 'GET of 593 bytes beside 10,000 idle connections',
    precision: { restarts: 2, blocks: 2 },
    quick: { restarts: 1, blocks: 1 },
  },
};

const quickLoads = new Set(['c64-headers', 'post']);
const entries = Object.keys(loads).flatMap((load) =>
  contendersOf(load).map((entry) => ({ entry, load })),
);

function contendersOf(load: string): Entry[] {
  if (load === 'threads-2') return onTwoCores;
  if (load === 'idle') return onNode;
  return [...onNode, ...others, ...(load in floorOf ? [floorEntry(floorOf[load]!)] : [])];
}

/** The floor: one read and one write per request, the min cost on this machine. */
function floorEntry(env: Record<string, string>): Entry {
  return {
    name: 'floor',
    note: 'epoll, one read, one write',
    command: [programs.floor],
    env,
    needs: 'floor',
  };
}

export default defineConfig({
  name: 'http',
  title: 'Answering requests over HTTP/1.1',
  // The sender of the open loop is Node: above this rate it would measure itself.
  load: { connections: 64, openLoopRps: 3_000, turns: false },
  precision: { restarts: 5, blocks: 8, sliceMs: 250, warmupMs: 2_000, latencyMs: 800 },
  quick: { restarts: 4, blocks: 3, sliceMs: 200, warmupMs: 800, latencyMs: 200 },
  requests: ['/'],
  groups: Object.fromEntries(
    Object.entries(loads).map(([load, group]) => [
      load,
      load in floorOf ? { ...group, floor: `floor/${load}` } : group,
    ]),
  ),
  variants: entries.map(({ entry: { name, note, command, env = {} }, load }) => ({
    name: `${name}/${load}`,
    note,
    group: load,
    command,
    env,
    ...(quickLoads.has(load) ? {} : { quick: false as const }),
    // The server opens the connections on the first request for their cost.
    ...(load === 'idle' ? { probe: '/idle' } : {}),
  })),

  async setup() {
    const missing: Record<string, string> = await obtainContenders([
      'bun',
      'go-http',
      'hyper',
      'floor',
    ]);
    const served = engine();
    if (served.name !== 'native') missing['addon'] = served.reason;
    const skip = entries.flatMap(({ entry, load }) => {
      const reason = entry.needs === undefined ? undefined : missing[entry.needs];
      return reason === undefined ? [] : [[`${entry.name}/${load}`, reason] as const];
    });
    return { env: { PRODUCT: product }, skip: Object.fromEntries(skip) };
  },
});
