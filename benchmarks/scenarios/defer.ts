// The article's grid: where its job goes × how many connections × what does it, on Nest with Express and with Fastify;
// what each level adds to the latency at a fixed rate; what a job costs the server; producers; an outage. The servers are
// those of examples/deferred-work. All of it takes about two hours alone. With --quick it takes 20 minutes, and measures what
// is promised.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig, type RedlineConfig } from '@redline/lab';
import { freePort, startRedis } from '@redline/services';

type Variant = RedlineConfig['variants'][number];

const example = join(import.meta.dirname, '../../examples/deferred-work');
const producer = join(import.meta.dirname, '../contenders/defer-producer.ts');
const proxy = join(import.meta.dirname, '../delay-proxy.ts');

const sinks: Record<string, { title: string; roundTripMs?: number }> = {
  delay5: { title: 'a sink that takes 5 ms' },
  delay25: { title: 'a sink that takes 25 ms' },
  'redis-local': { title: 'BullMQ, local Redis', roundTripMs: 0 },
  'redis-2ms': { title: 'BullMQ, Redis 2 ms away', roundTripMs: 2 },
  'redis-10ms': { title: 'BullMQ, Redis 10 ms away', roundTripMs: 10 },
  'redis-25ms': { title: 'BullMQ, Redis 25 ms away', roundTripMs: 25 },
};
const platforms = ['express', 'fastify'] as const;
const ways: Record<string, string> = {
  blocking: 'awaited in the controller',
  interceptor: "the article's",
  memory: 'deferred, level memory',
  process: 'deferred, level process',
  disk: 'deferred, level disk',
};
const connections = [10, 50, 100];
const lack = 'needs a redis-server';
const producers: Record<string, string> = {
  add: "BullMQ's add, 500 at a time",
  addBulk: "BullMQ's addBulk of 500",
  bulk: 'deferred, through addBulk',
  lane: 'deferred, one call for a batch',
  streams: 'deferred, to a Redis stream',
};
/** The scenario is a config of `redline bench`, and read by it. */
const isQuick = process.argv.includes('--quick');

interface Cell {
  sink: string;
  count: number;
}

/** In a quick run what is promised, and beside it the few connections at which a batch has the least to gather. */
const quickGrid: Cell[] = [
  { sink: 'redis-local', count: 10 },
  { sink: 'redis-local', count: 100 },
  { sink: 'redis-10ms', count: 100 },
];

const grid: Cell[] = isQuick
  ? quickGrid
  : Object.keys(sinks).flatMap((sink) => connections.map((count) => ({ sink, count })));

/** A route that has no job is as fast as any other can get. */
function waysIn({ sink, count }: Cell): string[] {
  // The levels' figures are promised for 100 connections.
  if (isQuick && count < 100) return ['interceptor', 'disk'];
  return [...Object.keys(ways), ...(hasPlain(sink) ? ['plain'] : [])];
}

function hasPlain(sink: string): boolean {
  return sink === 'redis-local' || sink === 'redis-10ms';
}

/** Where jobs go while latency is measured at a fixed rate: near, far, and slow. */
const rateSinks = isQuick ? ['redis-local'] : ['redis-local', 'redis-25ms', 'delay25'];
const rate = 2_000;
const rateWays = ['plain', 'memory', 'process', 'disk'];
const rates = rateSinks.flatMap((sink) => platforms.map((platform) => ({ sink, platform })));

/**
 * What a job costs the server, and no other process: all ways to a local Redis, and ours also to a sink that does nothing.
 * A closed loop with the load on another core cannot tell a few µs. What waking the load costs, and what the other core's
 * work takes from this one, differ more than that from one second to the next.
 */
const costs = platforms.flatMap((platform) => [
  ...['plain', 'memory', 'process'].map((way) => ({ platform, way, sink: 'none' })),
  ...Object.keys(ways).map((way) => ({ platform, way, sink: 'redis-local' })),
]);

export default defineConfig({
  name: 'defer',
  title: 'A job for every request',
  requests: ['/orders'],
  load: { turns: false },
  // One start of a server differs from the next more than its slices do. With two starts the interval of a ratio spans
  // decades, with four it says something; what is read without an interval has three, or one.
  precision: { restarts: 4, blocks: 3, sliceMs: 500, warmupMs: 2_000, latencyMs: 100 },
  quick: { restarts: 4, blocks: 2, sliceMs: 400, warmupMs: 1_500, latencyMs: 100 },
  groups: {
    ...Object.fromEntries(
      grid.map(({ sink, count }) => [
        groupOf(sink, count),
        {
          title: `${sinks[sink]!.title}, ${count} connections`,
          load: { connections: count },
          baseline: `express-interceptor/${sink}/c${count}`,
          // The compiler is done after so many requests, and not after so much time: with few connections it takes longer.
          ...(count < 100
            ? { precision: { warmupMs: 3_500 }, quick: { warmupMs: 3_000 } }
            : {
                // What is promised hangs on these two.
                ...(hasPlain(sink) ? { precision: { restarts: 5, blocks: 5 } } : {}),
                quick: { blocks: 3 },
              }),
        },
      ]),
    ),
    ...Object.fromEntries(
      rates.map(({ sink, platform }) => [
        rateGroupOf(platform, sink),
        {
          title: `${titleOf(platform)}, ${sinks[sink]!.title}: latency at ${rate} requests per second`,
          load: { connections: 20, openLoopRps: rate, exactSends: true },
          baseline: rateNameOf(platform, 'plain', sink),
          // Its latency counts; the closed loop beside it only warms it up.
          precision: { restarts: 3, blocks: 1, sliceMs: 300, warmupMs: 2_500, latencyMs: 3_000 },
          quick: { restarts: 3, blocks: 1, sliceMs: 300, warmupMs: 1_500, latencyMs: 1_500 },
        },
      ]),
    ),
    ...Object.fromEntries(
      platforms.map((platform) => [
        costGroupOf(platform),
        {
          title: `${titleOf(platform)}: CPU of the server, which takes turns with its load on one core`,
          load: { connections: 100, turns: true, openLoopRps: rate },
          baseline: costNameOf(platform, 'plain', 'none'),
          precision: { restarts: 3, blocks: 6, sliceMs: 100, warmupMs: 1_500, latencyMs: 100 },
          quick: { restarts: 3, blocks: 4, sliceMs: 100, warmupMs: 1_500, latencyMs: 100 },
        },
      ]),
    ),
    producers: {
      title: '500 jobs to Redis for each request',
      requests: ['/'],
      load: { connections: 4 },
      baseline: 'add/producers',
    },
    outage: {
      title: 'BullMQ, no Redis there, 100 connections',
      load: { connections: 100 },
      baseline: 'express-interceptor/outage/c100',
      precision: { restarts: 1 },
      quick: { restarts: 1 },
    },
  },
  variants: [
    ...grid.flatMap((cell) =>
      platforms.flatMap((platform) => waysIn(cell).map((way) => toVariant(platform, way, cell))),
    ),
    ...rates.flatMap(({ sink, platform }) =>
      rateWays.map((way) => ({
        ...toVariant(platform, way, { sink, count: 20 }),
        name: rateNameOf(platform, way, sink),
        group: rateGroupOf(platform, sink),
      })),
    ),
    ...costs.map(({ platform, way, sink }) => ({
      ...toVariant(platform, way, { sink, count: 100 }),
      name: costNameOf(platform, way, sink),
      group: costGroupOf(platform),
    })),
    ...Object.entries(producers).map(([name, note]) => ({
      name: `${name}/producers`,
      group: 'producers',
      note,
      command: ['node', producer],
      env: { PRODUCER: name, REDIS_URL_FROM: urlName('redis-local') },
      probe: '/probe',
    })),
    // Blocking has no answer to give here.
    ...platforms.flatMap((platform) =>
      ['interceptor', 'memory', 'process', 'disk'].map((way) => {
        const variant = toVariant(platform, way, { sink: 'outage', count: 100 });
        // Without a journal the oldest have to go.
        const env = { ...variant.env };
        if (way === 'memory') env['OVERFLOW'] = 'drop-oldest';
        return { ...variant, group: 'outage', env };
      }),
    ),
  ],

  async setup() {
    const redis = await startRedis();
    const journals = await mkdtemp(join(tmpdir(), 'redline-defer-'));
    const proxies: ChildProcess[] = [];
    // Servers make a folder of their own in it.
    const env: Record<string, string> = { TMPDIR: journals };
    for (const [sink, { roundTripMs }] of Object.entries(sinks)) {
      if (redis === undefined || roundTripMs === undefined) continue;
      const port =
        roundTripMs === 0 ? redis.port : await startProxy(proxies, redis.port, roundTripMs);
      env[urlName(sink)] = `redis://127.0.0.1:${port}`;
    }
    env[urlName('outage')] = `redis://127.0.0.1:${await freePort()}`;
    return {
      env,
      skip: redis === undefined ? Object.fromEntries(needRedis().map((name) => [name, lack])) : {},
      async stop() {
        for (const each of proxies) each.kill();
        await redis?.stop();
        await rm(journals, { recursive: true, force: true });
      },
    };
  },
});

function needRedis(): string[] {
  const isOnRedis = (sink: string): boolean => sinks[sink]?.roundTripMs !== undefined;
  return [
    ...grid
      .filter(({ sink }) => isOnRedis(sink))
      .flatMap((cell) =>
        platforms.flatMap((platform) => waysIn(cell).map((way) => nameOf(platform, way, cell))),
      ),
    ...rates
      .filter(({ sink }) => isOnRedis(sink))
      .flatMap(({ sink, platform }) => rateWays.map((way) => rateNameOf(platform, way, sink))),
    ...costs
      .filter(({ sink }) => isOnRedis(sink))
      .map(({ platform, way, sink }) => costNameOf(platform, way, sink)),
    ...Object.keys(producers).map((name) => `${name}/producers`),
  ];
}

function toVariant(
  platform: (typeof platforms)[number],
  way: string,
  { sink, count }: Cell,
): Variant {
  return {
    name: nameOf(platform, way, { sink, count }),
    group: groupOf(sink, count),
    note: ways[way] ?? 'no job',
    command: ['node', 'dist/main.js'],
    cwd: example,
    env: { VARIANT: way, PLATFORM: platform, SINK: sink, REDIS_URL_FROM: urlName(sink) },
    probe: '/probe',
  };
}

function nameOf(platform: string, way: string, { sink, count }: Cell): string {
  return `${platform}-${way}/${sink}/c${count}`;
}

function groupOf(sink: string, count: number): string {
  return `${sink}-c${count}`;
}

function rateNameOf(platform: string, way: string, sink: string): string {
  return `${platform}-${way}/${sink}/rate`;
}

function rateGroupOf(platform: string, sink: string): string {
  return `${platform}-${sink}-rate`;
}

function costNameOf(platform: string, way: string, sink: string): string {
  return `${platform}-${way}/${sink}/cpu`;
}

function costGroupOf(platform: string): string {
  return `${platform}-cpu`;
}

function titleOf(platform: string): string {
  return platform === 'express' ? 'Express' : 'Fastify';
}

/** Ports are known only after the set-up, and are the same for all variants: each server reads its own. */
function urlName(sink: string): string {
  return `${sink.toUpperCase().replaceAll('-', '_')}_URL`;
}

async function startProxy(
  proxies: ChildProcess[],
  port: number,
  roundTripMs: number,
): Promise<number> {
  const child = spawn(process.execPath, [proxy, String(port), String(roundTripMs)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  proxies.push(child);
  const [line] = await once(child.stdout, 'data');
  return Number(String(line));
}
