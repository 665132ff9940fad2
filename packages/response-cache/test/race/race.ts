import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRedis } from '@redline/services';
import { Redis } from 'ioredis';
import type { Seen } from './worker.ts';

export interface RaceOptions {
  seconds: number;
  /** How old a read may be across processes, in milliseconds. */
  boundMs: number;
  /** What is taken out. */
  without?: 'tickets' | 'leases' | undefined;
}

export interface RaceResult {
  readonly reads: number;
  readonly writes: number;
  /** Reads older than an acknowledged invalidation, by more than the bound. */
  readonly stale: string[];
}

const processes = 3;

/** Three processes that read and write the same keys through caches of their own, while connections are killed. */
export async function race(options: RaceOptions): Promise<RaceResult> {
  const redis = await startRedis();
  if (redis === undefined) throw new Error('There is no redis-server on PATH.');
  const killer = new Redis(redis.url);
  try {
    const seen = Array.from({ length: processes }, () => runWorker(redis.url, options));
    const isOver = { value: false };
    const killing = kill(killer, isOver);
    const all = await Promise.all(seen);
    isOver.value = true;
    await killing;
    return judge(all, options.boundMs);
  } finally {
    killer.disconnect();
    await redis.stop();
  }
}

async function runWorker(url: string, { seconds, without }: RaceOptions): Promise<Seen> {
  const worker = fork(join(import.meta.dirname, 'worker.ts'), [url, `${seconds}`, without ?? '']);
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

async function kill(killer: Redis, isOver: { value: boolean }): Promise<void> {
  while (!isOver.value) {
    await sleep(300 + Math.random() * 900);
    const list = (await killer.client('LIST')) as string;
    // Those that track, which are the connections for invalidations.
    const ids = [...list.matchAll(/^id=(\d+) .* flags=\S*t\S* /gm)].map(([, id]) => id!);
    const id = ids[Math.floor(Math.random() * ids.length)];
    if (id !== undefined) await killer.client('KILL', 'ID', id);
  }
}

function judge(all: readonly Seen[], boundMs: number): RaceResult {
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
