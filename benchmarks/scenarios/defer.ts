// The article's job in every variant, on Nest with Express and with Fastify; the latency that each level adds at a fixed
// rate; the CPU of a job, sealed and in clear; producers; an outage. The servers are those of examples/deferred-work. The
// whole scenario takes about 25 minutes. The full grid, sinks × connections, is a separate run: defer-grid.
import { join } from 'node:path';
import { defineConfig } from '@redline/lab';
import {
  type Cell,
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

/** The promised cells, and a low number of connections, at which a batch gathers the least. */
const grid: Cell[] = [
  { sink: 'redis-local', count: 10 },
  { sink: 'redis-local', count: 100 },
  { sink: 'redis-10ms', count: 100 },
];

/** The comparison of the README. */
const quickGroup = groupOf('redis-10ms', 100);

/** Figures of the levels are promised for 100 connections. A route without a job is the upper limit for all others. */
function waysIn({ count }: Cell): string[] {
  return count < 100 ? ['blocking', 'interceptor', 'disk'] : [...Object.keys(ways), 'plain'];
}

/** The sinks of the runs that measure latency at a fixed rate. */
const rateSinks = ['redis-local'];
const rate = 2_000;
const rateWays = ['plain', 'memory', 'process', 'disk'];
const rates = rateSinks.flatMap((sink) => platforms.map((platform) => ({ sink, platform })));

/**
 * The cost of a job for the server alone: all ways to a local Redis, and ours also to a no-op sink. A closed loop with the
 * load on another core cannot resolve a few µs: the cost of waking the load, and the slowdown by the other core's work, vary
 * more than that from one second to the next.
 */
const costs = platforms.flatMap((platform) => [
  ...['plain', 'memory', 'process', 'disk', 'process-sealed', 'disk-sealed'].map((way) => ({
    platform,
    way,
    sink: 'none',
  })),
  ...Object.keys(ways).map((way) => ({ platform, way, sink: 'redis-local' })),
]);

export default defineConfig({
  name: 'defer',
  title: 'A job for every request',
  requests: ['/orders'],
  load: { turns: false },
  // Starts of a server differ more than its slices do. With two starts the interval of a ratio spans decades, with four it
  // is useful; groups that are read without an interval have three, or one.
  precision: { restarts: 4, blocks: 3, sliceMs: 400, warmupMs: 1_500, latencyMs: 100 },
  quick: { restarts: 4, blocks: 2, sliceMs: 300, warmupMs: 1_000, latencyMs: 100 },
  groups: {
    ...Object.fromEntries(
      grid.map(({ sink, count }) => [
        groupOf(sink, count),
        {
          title: `${sinks[sink]!.title}, ${count} connections`,
          load: { connections: count },
          baseline: `express-interceptor/${sink}/c${count}`,
          // The compiler finishes after a number of requests, not a time: with few connections it takes longer.
          ...(count < 100 ? { precision: { warmupMs: 3_000 } } : {}),
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
          // Only its latency counts; the closed loop just warms it up.
          precision: { restarts: 3, blocks: 1, sliceMs: 300, warmupMs: 1_500, latencyMs: 1_500 },
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
          precision: { restarts: 3, blocks: 4, sliceMs: 100, warmupMs: 1_500, latencyMs: 100 },
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
    // Blocking has no response to give here.
    ...platforms.flatMap((platform) =>
      ['interceptor', 'memory', 'process', 'disk'].map((way) => {
        const variant = toVariant(platform, way, { sink: 'outage', count: 100 });
        // Without a journal the oldest jobs are dropped.
        const env = { ...variant.env };
        if (way === 'memory') env['OVERFLOW'] = 'drop-oldest';
        return { ...variant, group: 'outage', env };
      }),
    ),
  ].map((variant) =>
    variant.group === quickGroup ? variant : { ...variant, quick: false as const },
  ),

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
