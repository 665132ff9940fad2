// 1,000 callers in four processes miss the same keys at once: the handler of each key runs in one of them, once.
import assert from 'node:assert/strict';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { startRedis, startRedisCluster, startRedisSentinel } from '@redline/services';
import { until } from '@redline/services/until';
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

const maxWaves = 4;

/** A process or a Redis that the machine lets stand still for longer than a lease, a second, has lost it: then other keys are asked for. */
async function assertOnceEach(all: Stampede): Promise<void> {
  for (let wave = 1; ; wave++) {
    const asked = keys.map((key) => `${key}-${wave}`);
    const { runs, values } = await all.run({ keys: asked });
    const isOnce = asked.every((key) => runs[key] === 1 && values[key]?.length === 1);
    if (isOnce) return;
    if (wave < maxWaves) continue;
    assert.deepEqual(runs, Object.fromEntries(asked.map((key) => [key, 1])));
    assert.fail('Callers got different values.');
  }
}

describe('1,000 callers in four processes that miss at once', () => {
  it('run the handler once for each key, on one Redis', async (t) => {
    const redis = await startRedis();
    if (redis === undefined) return t.skip('there is no redis-server on PATH');
    try {
      await using all = await stampede({ kind: 'single', port: redis.port });
      await assertOnceEach(all);
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
      await assertOnceEach(all);
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
      await assertOnceEach(all);
      const others = keys.map((key) => `${key}-other`);
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
