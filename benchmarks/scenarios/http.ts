// Answering requests: Node, Fastify, ours under both, and other runtimes. Variants are named CONTENDER/LOAD.
import { defineConfig, type RedlineConfig } from '@redline/lab';
import { engine } from '@redline/http';
import { join } from 'node:path';
import { obtainContenders, programs, type Contender } from '../contenders/obtain.ts';

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

/** 593 bytes, as most answers of an API are. */
const product = JSON.stringify({
  id: 4711,
  name: 'Walnut desk with two drawers',
  description:
    'Solid walnut, oiled by hand, with a cable channel and soft-closing drawers. '.repeat(4),
  price: { amount: 64_900, currency: 'EUR' },
  stock: [
    { warehouse: 'north', count: 12 },
    { warehouse: 'south', count: 3 },
  ],
  tags: ['furniture', 'office', 'walnut', 'desk'],
  updatedAt: '2026-11-02T08:15:30.000Z',
}).padEnd(593);

/** 1 KB: what a shop is sent. */
const order = JSON.stringify({
  customer: '5f0c2a4e-93c1-4b59-9f6c-0d2f2f2b6a11',
  lines: Array.from({ length: 16 }, (_, i) => ({
    sku: `SKU-${1_000 + i}`,
    count: 1 + (i % 3),
    cents: 1_999 + i,
  })),
  note: 'Please ring twice. ',
}).padEnd(1_024);

/** What a browser behind a proxy sends. */
const headers = {
  Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'Accept-Encoding': 'gzip, deflate, br, zstd',
  'Accept-Language': 'en-GB,en;q=0.9,uk;q=0.8',
  'Cache-Control': 'no-cache',
  Cookie: 'session=3b2f1c9a7d5e4f60; theme=dark; consent=necessary',
  Referer: 'https://shop.example/furniture/desks?page=2',
  'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  'X-Forwarded-For': '203.0.113.7, 198.51.100.2',
  'X-Forwarded-Proto': 'https',
  'X-Request-Id': '0192f6b2-6c1e-7a44-b0f1-9d6f3c2a1e55',
};

const loads: Record<string, Group> = {
  c4: { title: 'GET of 593 bytes, 4 connections', load: { connections: 4 } },
  c64: { title: 'GET of 593 bytes, 64 connections' },
  'c64-headers': {
    title: 'the same, with ten headers of a browser',
    requests: [{ path: '/', headers }],
  },
  c200: { title: 'GET of 593 bytes, 200 connections', load: { connections: 200 } },
  post: {
    title: 'POST of 1 KB JSON, parsed',
    requests: [
      {
        method: 'POST',
        path: '/order',
        headers: { 'Content-Type': 'application/json' },
        body: order,
      },
    ],
  },
  stream: {
    title: 'GET of 1 MiB in 16 chunks',
    requests: ['/stream'],
    load: { connections: 16, openLoopRps: 200 },
    precision: { sliceMs: 400 },
    quick: { sliceMs: 400 },
  },
  idle: {
    title: 'GET of 593 bytes beside 10,000 idle connections',
    precision: { restarts: 2, blocks: 2 },
    quick: { restarts: 1, blocks: 1 },
  },
};

const entries = Object.keys(loads).flatMap((load) =>
  (load === 'idle' ? onNode : [...onNode, ...others]).map((entry) => ({ entry, load })),
);

export default defineConfig({
  name: 'http',
  title: 'Answering requests over HTTP/1.1',
  // The sender of the open loop is Node: beyond this it would measure itself.
  load: { connections: 64, openLoopRps: 3_000 },
  precision: { restarts: 5, blocks: 8, sliceMs: 250, warmupMs: 2_000, latencyMs: 800 },
  quick: { restarts: 2, blocks: 3, sliceMs: 200, warmupMs: 800, latencyMs: 800 },
  requests: ['/'],
  groups: loads,
  variants: entries.map(({ entry: { name, note, command, env = {} }, load }) => ({
    name: `${name}/${load}`,
    note,
    group: load,
    command,
    env,
    // The server opens the connections when it is first asked what they cost.
    ...(load === 'idle' ? { probe: '/idle' } : {}),
  })),

  async setup() {
    const missing: Record<string, string> = await obtainContenders(['bun', 'go-http', 'hyper']);
    const served = engine();
    if (served.name !== 'native') missing['addon'] = served.reason;
    const skip = entries.flatMap(({ entry, load }) => {
      const reason = entry.needs === undefined ? undefined : missing[entry.needs];
      return reason === undefined ? [] : [[`${entry.name}/${load}`, reason] as const];
    });
    return { env: { PRODUCT: product }, skip: Object.fromEntries(skip) };
  },
});
