import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { freePort, startRedis } from '@redline/services';
import { Redis } from 'ioredis';

const platforms = ['express', 'fastify'];
const ways = ['blocking', 'interceptor', 'memory', 'process', 'disk'];

const isAll = process.env['REDLINE_APPS'] === 'all';

/** Each way on one platform in turn in `npm test`: how a platform ends a response is tested in its package. */
function waysOn(platform: string): readonly string[] {
  if (isAll) return ways;
  return ways.filter((_, at) => platforms[at % platforms.length] === platform);
}

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
    for (const platform of platforms) {
      for (const way of waysOn(platform)) {
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

    test('the demonstration finds every order that was answered with 202', async () => {
      const demo = spawn(process.execPath, [join(root, 'examples/deferred-work/dist/demo.js')], {
        env: { ...process.env, DEMO_SECONDS: '1' },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const text = demo.stdout!.setEncoding('utf8').toArray();
      const [code] = await once(demo, 'exit');
      const said = (await text).join('');
      assert.equal(code, 0, said);
      const [accepted, arrived, lost] = ['answered with 202  ', 'in the queue', 'lost'].map(
        (label) =>
          Number(new RegExp(`${label}\\s+([\\d,]+)\\n`).exec(said)?.[1]?.replaceAll(',', '')),
      );
      assert.ok(accepted! > 0, said);
      assert.deepEqual([arrived, lost], [accepted, 0]);
    });

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

describe('a request whose reply was held', () => {
  for (const platform of isAll ? platforms : ['express']) {
    // One closure kept in a field brought 5 KB of each request there, and a pause of 30 ms a second.
    test(`is not promoted to V8's old generation, on ${platform}`, async (t) => {
      const { url, child, stop } = await start(platform, 'process', { SINK: 'none' }, [
        '--expose-gc',
        // Room for all that a round allocates.
        ...['min', 'max'].map((which) => `--${which}-semi-space-size=128`),
        `--import=data:text/javascript,${encodeURIComponent(reportOldSpace)}`,
      ]);
      t.after(stop);
      await ask(url, 3_000);
      const growths: number[] = [];
      let before = await oldSpace(child);
      for (let i = 0; i < 5; i++) {
        await ask(url, perRound);
        // It answers when nothing is under way any more.
        await (await fetch(`${url}/probe`)).text();
        const now = await oldSpace(child);
        growths.push((now - before) / perRound);
        before = now;
      }
      // Code that is compiled, or a full collection, may fall into some of them.
      const bytes = growths.toSorted((a, b) => a - b)[2]!;
      assert.ok(bytes < 1_000, `${Math.round(bytes)} bytes of each request were`);
    });
  }
});

const perRound = 1_000;

/**
 * What a request in flight reaches survives a collection of the young generation, and the next one promotes it: how much
 * that is depends on how long requests take. So those collections are made here, while none is in flight. What survives
 * them is held by the old generation, though it be garbage.
 */
const reportOldSpace = `
  import { getHeapSpaceStatistics } from 'node:v8';
  process.on('message', () => {
    gc({ type: 'minor' });
    gc({ type: 'minor' });
    const old = getHeapSpaceStatistics().find((each) => each.space_name === 'old_space');
    process.send(old.space_used_size);
  });
`;

async function oldSpace(child: ChildProcess): Promise<number> {
  const answer = once(child, 'message');
  child.send('old space?');
  const [bytes] = await answer;
  return bytes as number;
}

/** Twenty connections, kept alive. */
async function ask(url: string, requests: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 20 });
  await Promise.all(
    Array.from(
      { length: requests },
      () =>
        new Promise<void>((resolve, reject) => {
          get(`${url}/orders`, { agent }, (response) => {
            response.resume().on('end', resolve);
          }).on('error', reject);
        }),
    ),
  );
  agent.destroy();
}

interface Running {
  url: string;
  child: ChildProcess;
  stop(): Promise<void>;
}

async function start(
  PLATFORM: string,
  VARIANT: string,
  env: Record<string, string> = {},
  flags: readonly string[] = [],
): Promise<Running> {
  const port = await freePort();
  const main = join(root, 'examples/deferred-work/dist/main.js');
  const child = spawn(process.execPath, [...flags, main], {
    env: {
      ...process.env,
      ...(redis && { REDIS_URL: redis.url }),
      JOURNAL: join(folder, `${PLATFORM}-${VARIANT}`),
      SINK: 'redis',
      PLATFORM,
      VARIANT,
      PORT: String(port),
      ...env,
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
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
