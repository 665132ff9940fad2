import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { freePort, startRedis } from '@redline/services';
import { Redis } from 'ioredis';

const root = join(import.meta.dirname, '..');
const redis = await startRedis();
const folder = mkdtempSync(join(tmpdir(), 'redline-deferred-'));
after(async () => {
  await redis?.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe(
  'examples/deferred-work',
  { skip: redis === undefined && 'there is no redis-server on PATH' },
  () => {
    for (const platform of ['express', 'fastify']) {
      for (const way of ['blocking', 'interceptor', 'memory', 'process', 'disk']) {
        test(`${way} on ${platform} answers each request and brings each job to the queue`, async (t) => {
          const client = new Redis(redis!.url);
          t.after(() => client.disconnect());
          await client.flushall();
          const { url, stop } = await start(platform, way);
          t.after(stop);
          const bodies = await Promise.all(
            Array.from({ length: 30 }, async () => (await fetch(`${url}/orders`)).text()),
          );
          assert.deepEqual(
            new Set(bodies),
            new Set(['{"orders":[{"id":7,"total":19.9}],"page":1}']),
          );
          while ((await client.llen('bull:access:wait')) < 30) await pause();
          const [id] = await client.lrange('bull:access:wait', 0, 0);
          const job = await client.hgetall(`bull:access:${id}`);
          assert.equal(job['name'], 'write-access');
          assert.equal(JSON.parse(job['data']!).path, '/orders');
          assert.equal(await client.llen('bull:access:wait'), 30);
        });
      }
    }

    for (const way of ['process', 'disk']) {
      test(`${way} has the jobs of a killed process brought by the next one`, async (t) => {
        const client = new Redis(redis!.url);
        t.after(() => client.disconnect());
        await client.flushall();
        const journal = join(folder, way);
        const nowhere = `redis://127.0.0.1:${await freePort()}`;
        const first = await start('fastify', way, { JOURNAL: journal, REDIS_URL: nowhere });
        t.after(first.stop);
        for (let i = 0; i < 10; i++) assert.equal((await fetch(`${first.url}/orders`)).status, 200);
        first.child.kill('SIGKILL');
        await once(first.child, 'exit');
        assert.equal(await client.llen('bull:access:wait'), 0);
        const second = await start('fastify', way, { JOURNAL: journal });
        t.after(second.stop);
        while ((await client.llen('bull:access:wait')) < 10) await pause();
        assert.equal(await client.llen('bull:access:wait'), 10);
      });
    }
  },
);

interface Running {
  url: string;
  child: ChildProcess;
  stop(): Promise<void>;
}

async function start(
  PLATFORM: string,
  VARIANT: string,
  env: Record<string, string> = {},
): Promise<Running> {
  const port = await freePort();
  const child = spawn(process.execPath, [join(root, 'examples/deferred-work/dist/main.js')], {
    env: {
      ...process.env,
      REDIS_URL: redis!.url,
      JOURNAL: join(folder, `${PLATFORM}-${VARIANT}`),
      SINK: 'redis',
      PLATFORM,
      VARIANT,
      PORT: String(port),
      ...env,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const url = `http://127.0.0.1:${port}`;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${VARIANT} on ${PLATFORM} ended by itself`);
    const answer = await fetch(`${url}/nothing`).catch(() => undefined);
    if (answer !== undefined) break;
    await pause();
  }
  return {
    url,
    child,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20));
}
