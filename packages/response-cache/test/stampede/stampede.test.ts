// 1,000 callers in four processes miss the same keys at once: the handler of each key runs in one of them, once.
import assert from 'node:assert/strict';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { startRedis, startRedisCluster, startRedisSentinel } from '@redline/services';
import { until } from '../until.ts';
import type { Got, Servers, Wave } from './worker.ts';

const processes = 4;
const callers = 1_000 / processes;
const keys = ['a', 'b', 'c', 'd', 'e', 'f'];

interface Stampede extends AsyncDisposable {
  /** What all processes got together. */
  run(
    wave: Partial<Wave>,
  ): Promise<{ runs: Record<string, number>; values: Record<string, unknown[]> }>;
}

async function stampede(servers: Servers): Promise<Stampede> {
  const workers = Array.from({ length: processes }, () =>
    fork(join(import.meta.dirname, 'worker.ts'), [JSON.stringify(servers)]),
  );
  await Promise.all(workers.map((worker) => messageOf(worker)));
  return {
    async run(wave) {
      const all = workers.map((worker) => messageOf(worker) as Promise<Got>);
      for (const worker of workers) worker.send({ keys, callers, workMs: 50, ...wave });
      const got = await Promise.all(all);
      const runs: Record<string, number> = {};
      const values: Record<string, unknown[]> = {};
      for (const each of got) {
        for (const [key, count] of Object.entries(each.runs)) runs[key] = (runs[key] ?? 0) + count;
        for (const [key, list] of Object.entries(each.values))
          values[key] = [...new Set([...(values[key] ?? []), ...list])];
      }
      return { runs, values };
    },
    async [Symbol.asyncDispose]() {
      const ended = workers.map((worker) => once(worker, 'exit'));
      for (const worker of workers) worker.disconnect();
      await Promise.all(ended);
    },
  };
}

async function messageOf(worker: ChildProcess): Promise<unknown> {
  const exit = once(worker, 'exit').then(([code]) => {
    throw new Error(`A process of the stampede ended with ${code}.`);
  });
  exit.catch(() => {});
  const [message] = (await Promise.race([once(worker, 'message'), exit])) as [unknown];
  return message;
}

const onceEach = Object.fromEntries(keys.map((key) => [key, 1]));

describe('1,000 callers in four processes that miss at once', () => {
  it('run the handler once for each key, on one Redis', async (t) => {
    const redis = await startRedis();
    if (redis === undefined) return t.skip('there is no redis-server on PATH');
    try {
      await using all = await stampede({ kind: 'single', port: redis.port });
      const { runs, values } = await all.run({});
      assert.deepEqual(runs, onceEach);
      for (const key of keys) assert.equal(values[key]?.length, 1, key);
    } finally {
      await redis.stop();
    }
  });

  it('run the handler once for each key, behind a Sentinel', async (t) => {
    const redis = await startRedisSentinel();
    if (redis === undefined) return t.skip('there is no redis-server on PATH');
    try {
      const { port } = redis.sentinel;
      await using all = await stampede({ kind: 'sentinel', port, name: redis.name });
      assert.deepEqual((await all.run({})).runs, onceEach);
    } finally {
      await redis.stop();
    }
  });

  it('run the handler once for each key on a Cluster, also while masters change places', async (t) => {
    const redis = await startRedisCluster();
    if (redis === undefined) return t.skip('there is no redis-server of version 7 on PATH');
    try {
      const ports = redis.nodes.map(({ port }) => port);
      await using all = await stampede({ kind: 'cluster', ports });
      assert.deepEqual((await all.run({})).runs, onceEach);
      const others = keys.map((key) => `${key}2`);
      const running = all.run({ keys: others, workMs: 1_500 });
      let failovers = 0;
      await until('a master changes places with its replica', async () => {
        for (const port of ports) {
          if ((await redis.ask(port, 'CLUSTER FAILOVER')).startsWith('+OK')) failovers += 1;
          if (failovers > 0) return true;
        }
        return false;
      });
      const { runs, values } = await running;
      // Every caller has an answer. A lease may be lost with its master: then another process makes the value as well.
      for (const key of others) {
        assert.ok(runs[key]! >= 1 && runs[key]! <= processes, `${key} was made ${runs[key]} times`);
        assert.ok(values[key]!.length <= runs[key]!, key);
      }
    } finally {
      await redis.stop();
    }
  });
});
