import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRedis, startRedisCluster, type RedisCluster } from '@redline/services';
import { Redis } from 'ioredis';
import type { Seen } from './worker.ts';

export interface RaceOptions {
  seconds: number;
  /** How old a read may be across processes, in milliseconds. */
  boundMs: number;
  /** Over a Cluster of three masters, which change places with their replicas, in place of one server. */
  hasFailovers?: boolean;
  /** How long Redis may take, in milliseconds, before it counts as down. */
  timeoutMs: number;
  /** What is taken out. */
  without?: 'tickets' | 'leases' | undefined;
}

export interface RaceResult {
  readonly reads: number;
  readonly writes: number;
  /** Masters that changed places with their replicas. */
  readonly failovers: number;
  /** Reads older than an acknowledged invalidation, by more than the bound. */
  readonly stale: string[];
  /** The longest read: what hangs is seen here. */
  readonly slowestMs: number;
}

const processes = 3;

/** Three processes that read and write the same keys through caches of their own, while connections are killed. */
export async function race(options: RaceOptions): Promise<RaceResult> {
  const database = await startRedis();
  const cluster = options.hasFailovers === true ? await startRedisCluster() : undefined;
  if (database === undefined || (options.hasFailovers && cluster === undefined))
    throw new Error('There is no redis-server of version 7 on PATH.');
  const ports = cluster?.nodes.map(({ port }) => port) ?? [database.port];
  const isOver = { value: false };
  try {
    const workers = Array.from({ length: processes }, () =>
      runWorker([database.port, ...(cluster === undefined ? [] : ports)], options),
    );
    const killing = ports.map((port) => killConnections(port, isOver));
    const failingOver = cluster === undefined ? 0 : failOver(cluster, isOver);
    const all = await Promise.all(workers);
    isOver.value = true;
    const [failovers] = await Promise.all([failingOver, ...killing]);
    return { ...judge(all, options.boundMs), failovers };
  } finally {
    isOver.value = true;
    await cluster?.stop();
    await database.stop();
  }
}

async function runWorker(
  ports: number[],
  { seconds, without, timeoutMs }: RaceOptions,
): Promise<Seen> {
  const worker = fork(join(import.meta.dirname, 'worker.ts'), [
    ports.join(),
    `${seconds}`,
    without ?? '',
    `${timeoutMs}`,
  ]);
  const limit = AbortSignal.timeout(seconds * 1_000 + 60_000);
  const ended = once(worker, 'exit', { signal: limit }).then(([code]) => {
    throw new Error(`A process of the race ended with ${code}.`);
  });
  const [seen] = (await Promise.race([once(worker, 'message', { signal: limit }), ended])) as [
    Seen,
  ];
  ended.catch(() => {});
  return seen;
}

async function killConnections(port: number, isOver: { value: boolean }): Promise<void> {
  const killer = new Redis(port);
  killer.on('error', () => {});
  while (!isOver.value) {
    await sleep(300 + Math.random() * 900);
    const list = (await killer.client('LIST')) as string;
    // Those that track, which are the connections for invalidations.
    const ids = [...list.matchAll(/^id=(\d+) .* flags=\S*t\S* /gm)].map(([, id]) => id!);
    const id = ids[Math.floor(Math.random() * ids.length)];
    if (id !== undefined) await killer.client('KILL', 'ID', id);
  }
  killer.disconnect();
}

/** In order, so that no write is lost: Redis replicates after it has answered. */
async function failOver(cluster: RedisCluster, isOver: { value: boolean }): Promise<number> {
  let failovers = 0;
  while (!isOver.value) {
    await sleep(1_000 + Math.random() * 1_000);
    const first = Math.floor(Math.random() * cluster.nodes.length);
    const nodes = [...cluster.nodes.slice(first), ...cluster.nodes.slice(0, first)];
    // A master refuses: another one is a replica.
    for (const { port } of nodes) {
      if (!(await cluster.ask(port, 'CLUSTER FAILOVER')).startsWith('+OK')) continue;
      failovers += 1;
      break;
    }
  }
  return failovers;
}

function judge(all: readonly Seen[], boundMs: number): Omit<RaceResult, 'failovers'> {
  const acknowledged = all.map(({ writes }) => byKey(writes));
  const stale: string[] = [];
  for (const [reader, { reads }] of all.entries()) {
    for (const [what, askedAt] of Object.entries(reads)) {
      const [key, version] = split(what);
      for (const [writer, writes] of acknowledged.entries()) {
        const allowedMs = writer === reader ? 0 : boundMs;
        const late = writes
          .get(key)
          ?.find(([newer, at]) => newer > version && at + allowedMs < askedAt);
        if (late !== undefined) {
          const lateMs = Math.round(askedAt - late[1]);
          stale.push(
            `process ${reader} got ${what}, ${lateMs} ms after process ${writer} had ${late[0]}`,
          );
          break;
        }
      }
    }
  }
  return {
    reads: all.reduce((sum, { readCount }) => sum + readCount, 0),
    writes: all.reduce((sum, { writes }) => sum + Object.keys(writes).length, 0),
    stale,
    slowestMs: Math.round(Math.max(...all.map((each) => each.slowestMs))),
  };
}

function byKey(writes: Seen['writes']): Map<string, [number, number][]> {
  const found = new Map<string, [number, number][]>();
  for (const [what, at] of Object.entries(writes)) {
    const [key, version] = split(what);
    found.set(key, [...(found.get(key) ?? []), [version, at]]);
  }
  return found;
}

function split(what: string): [string, number] {
  const [key, version] = what.split(' ') as [string, string];
  return [key, Number(version)];
}
