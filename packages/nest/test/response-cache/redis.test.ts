import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Controller, Get, Param } from '@nestjs/common';
import { JsonCache, redisStore } from '@redline/nest';
import { startRedis, type RedisServer } from '@redline/services';
import { Redis } from 'ioredis';
import { startApp, until, type TestApp } from './harness.ts';

let runs = 0;

@Controller('items')
class ItemsController {
  @Get(':id')
  @JsonCache({ ttl: 60_000 })
  async item(@Param('id') id: string): Promise<object> {
    runs += 1;
    // Long enough for the others to ask meanwhile.
    await sleep(50);
    return { id, text: 'naïve 日本語 😀' };
  }
}

/** Resolves when every client has been answered what it had asked for, and once more. */
type EachAnswered = () => Promise<void>;

/** Eight clients who ask without a pause until `harm` is done; gives the answers that are wrong. */
async function failuresDuring(
  app: TestApp,
  harm: (eachAnswered: EachAnswered) => Promise<void>,
): Promise<string[]> {
  const failures: string[] = [];
  const answers = Array.from({ length: 8 }, () => 0);
  const eachAnswered = async (): Promise<void> => {
    const earlier = [...answers];
    await until('answers for all', () => answers.every((count, n) => count >= earlier[n]! + 2));
  };
  const run = { isOver: false };
  const client = async (number: number): Promise<void> => {
    for (let i = 0; !run.isOver; i++) {
      const id = `${number}-${i % 3}`;
      const body = await app.text(`/items/${id}`).catch(String);
      if (body !== JSON.stringify({ id, text: 'naïve 日本語 😀' })) failures.push(body);
      answers[number]! += 1;
    }
  };
  const clients = answers.map((_, number) => client(number));
  try {
    await harm(eachAnswered);
  } finally {
    run.isOver = true;
    await Promise.all(clients);
  }
  return failures;
}

const started = await startRedis();
const skip = started === undefined && 'there is no redis-server on PATH';
after(() => started?.stop());

for (const framework of ['fastify', 'express'] as const) {
  describe(`A cached route with Redis, on ${framework}`, { skip }, () => {
    const redis = started as RedisServer;
    let client: Redis;
    let app: TestApp;
    before(async () => {
      client = new Redis(redis.url, { enableAutoPipelining: true });
      client.on('error', () => {});
      await client.flushall();
      app = await startApp(framework, [ItemsController], {
        store: redisStore(client, { keyPrefix: 'redline:json:' }),
        timeoutMs: 2_000,
      });
    });
    after(async () => {
      await app.stop();
      await client.quit();
    });

    const expectHitsAgain = async (): Promise<void> => {
      const { hits } = app.cache.stats;
      await until('hits', () => app.cache.stats.hits > hits);
    };

    it('answers 200 requests at once with one run of its handler, and then from Redis', async () => {
      runs = 0;
      const answers = await Promise.all(
        Array.from({ length: 200 }, () => app.text('/items/stampede')),
      );
      assert.equal(new Set(answers).size, 1);
      assert.equal(runs, 1);
      assert.equal(
        (await client.get('redline:json:3:url-----0:15:/items/stampede'))?.trim(),
        answers[0],
      );
      assert.equal(await app.text('/items/stampede'), answers[0]);
      assert.equal(runs, 1);
    });

    it('has another app that shares the Redis answer without a run', async () => {
      const answer = await app.text('/items/shared');
      runs = 0;
      const other = await startApp(framework, [ItemsController], {
        store: redisStore(client, { keyPrefix: 'redline:json:' }),
      });
      assert.equal(await other.text('/items/shared'), answer);
      assert.equal(runs, 0);
      await other.stop();
    });

    it('replaces a stored value that is no JSON', async () => {
      await client.set('redline:json:3:url-----0:14:/items/garbage', '<html>', 'PX', 60_000);
      runs = 0;
      const answer = await app.text('/items/garbage');
      assert.equal(answer, '{"id":"garbage","text":"naïve 日本語 😀"}');
      assert.equal(await app.text('/items/garbage'), answer);
      assert.equal(runs, 1);
      assert.equal(app.cache.stats.invalid, 1);
    });

    it('fails no request while Redis is killed and started again, and tells each once', async () => {
      app.lines.length = 0;
      const failures = await failuresDuring(app, async (eachAnswered) => {
        await eachAnswered();
        await redis.kill();
        await until('the outage', () => app.cache.isStoreDown);
        await eachAnswered();
        await redis.restart();
        await until('the end of it', () => !app.cache.isStoreDown);
        await expectHitsAgain();
      });
      assert.deepEqual(failures, []);
      assert.equal(app.lines.length, 2, app.lines.join('\n'));
      assert.match(app.lines[0]!, /^warn The store of the JSON cache is down/);
      assert.match(
        app.lines[1]!,
        /^log The store of the JSON cache is available again after \d+ ms\.$/,
      );
    });

    it('fails and delays no request while Redis hangs, and tells each once', async () => {
      app.lines.length = 0;
      const failures = await failuresDuring(app, async (eachAnswered) => {
        await eachAnswered();
        process.kill(redis.pid as number, 'SIGSTOP');
        try {
          await until('the outage', () => app.cache.isStoreDown);
          // While it hangs: no request waits for its return.
          await eachAnswered();
        } finally {
          process.kill(redis.pid as number, 'SIGCONT');
        }
        await until('the end of it', () => !app.cache.isStoreDown);
        await expectHitsAgain();
      });
      assert.deepEqual(failures, []);
      assert.equal(app.lines.length, 2, app.lines.join('\n'));
      assert.match(app.lines[0]!, /^warn .*The store did not respond within 2000 ms\.$/);
      assert.match(app.lines[1]!, /^log .*available again/);
    });

    it('starts and answers though Redis is away, and never queues a command', async () => {
      const away = new Redis({ port: 1, retryStrategy: () => 200 });
      away.on('error', () => {});
      const lonely = await startApp(framework, [ItemsController], { store: redisStore(away) });
      runs = 0;
      await lonely.text('/items/lonely');
      await lonely.text('/items/lonely');
      assert.equal(runs, 2);
      assert.equal(lonely.cache.stats.bypasses, 2);
      assert.equal(
        (away as unknown as { offlineQueue: { length: number } }).offlineQueue.length,
        0,
      );
      await assert.rejects(lonely.cache.delete('/items/lonely'), {
        code: 'ERR_REDLINE_CACHE_STORE_DOWN',
      });
      await lonely.stop();
      away.disconnect();
    });
  });
}
