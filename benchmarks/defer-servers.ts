// The servers of examples/deferred-work as variants of a bench: destination of a job × number of connections × method, on
// Nest with Express and with Fastify, and the services they need.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RedlineConfig, SetupResult } from '@redline/lab';
import { freePort, startRedis } from '@redline/services';

type Variant = RedlineConfig['variants'][number];

const example = join(import.meta.dirname, '../examples/deferred-work');
const proxy = join(import.meta.dirname, 'delay-proxy.ts');

export const sinks: Record<string, { title: string; roundTripMs?: number }> = {
  delay5: { title: 'a sink that takes 5 ms' },
  delay25: { title: 'a sink that takes 25 ms' },
  'redis-local': { title: 'BullMQ, local Redis', roundTripMs: 0 },
  'redis-2ms': { title: 'BullMQ, Redis 2 ms away', roundTripMs: 2 },
  'redis-10ms': { title: 'BullMQ, Redis 10 ms away', roundTripMs: 10 },
  'redis-25ms': { title: 'BullMQ, Redis 25 ms away', roundTripMs: 25 },
};
export const platforms = ['express', 'fastify'] as const;
export const ways: Record<string, string> = {
  blocking: 'awaited in the controller',
  interceptor: "the article's",
  memory: 'deferred, level memory',
  process: 'deferred, level process',
  disk: 'deferred, level disk',
};
export const connections = [10, 50, 100];
const lack = 'needs a redis-server';

/** One group of the grid. */
export interface Cell {
  sink: string;
  count: number;
}

/** @param onRedis Variants that cannot run without Redis. */
export async function startServices(onRedis: readonly string[]): Promise<SetupResult> {
  const redis = await startRedis();
  const journals = await mkdtemp(join(tmpdir(), 'redline-defer-'));
  const proxies: ChildProcess[] = [];
  // Each server creates its own folder in it.
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
    skip: redis === undefined ? Object.fromEntries(onRedis.map((name) => [name, lack])) : {},
    async stop() {
      for (const each of proxies) each.kill();
      await redis?.stop();
      await rm(journals, { recursive: true, force: true });
    },
  };
}

export function isOnRedis(sink: string): boolean {
  return sinks[sink]?.roundTripMs !== undefined;
}

export function toVariant(
  platform: (typeof platforms)[number],
  way: string,
  { sink, count }: Cell,
): Variant {
  return {
    name: nameOf(platform, way, { sink, count }),
    group: groupOf(sink, count),
    note: noteOf(way),
    command: ['node', 'dist/main.js'],
    cwd: example,
    env: { VARIANT: way, PLATFORM: platform, SINK: sink, REDIS_URL_FROM: urlName(sink) },
    probe: '/probe',
  };
}

function noteOf(way: string): string {
  const [, level] = /^(.*)-sealed$/.exec(way) ?? [];
  return level === undefined ? (ways[way] ?? 'no job') : `${ways[level]!}, sealed`;
}

export function nameOf(platform: string, way: string, { sink, count }: Cell): string {
  return `${platform}-${way}/${sink}/c${count}`;
}

export function groupOf(sink: string, count: number): string {
  return `${sink}-c${count}`;
}

export function titleOf(platform: string): string {
  return platform === 'express' ? 'Express' : 'Fastify';
}

/**
 * Ports are known only after the set-up, and the environment is the same for all variants: each server reads its own
 * variable.
 */
export function urlName(sink: string): string {
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
