// The article's grid: where its job goes × how many connections × what does it, on Nest with Express and with Fastify;
// what each level adds to the latency at a fixed rate; what a job costs the server; producers; an outage. The servers are
// those of examples/deferred-work. All of it takes about two hours alone. With --quick it takes 20 minutes, and measures what
// is promised.
import { join } from 'node:path';
import { defineConfig } from '@redline/lab';
import {
  type Cell,
  connections,
  groupOf,
  isOnRedis,
  nameOf,
  platforms,
  sinks,
  startServices,
  titleOf,
  toVariant,
  urlName,
  ways,
} from '../defer-servers.ts';

const producer = join(import.meta.dirname, '../contenders/defer-producer.ts');
const producers: Record<string, string> = {
  add: "BullMQ's add, 500 at a time",
  addBulk: "BullMQ's addBulk of 500",
  bulk: 'deferred, through addBulk',
  lane: 'deferred, one call for a batch',
  streams: 'deferred, to a Redis stream',
};
/** The scenario is a config of `redline bench`, and read by it. */
const isQuick = process.argv.includes('--quick');

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

  setup: () => startServices(needRedis()),
});

function needRedis(): string[] {
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
