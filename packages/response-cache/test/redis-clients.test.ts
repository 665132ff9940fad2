import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startRedis, type RedisServer } from '@redline/services';
import { Redis as Iovalkey } from 'iovalkey';
import { Redis } from 'ioredis';
import { createClient, createCluster } from 'redis';
import { appName, redisStore } from '../src/redis/redis-store.ts';
import { JsonCache } from '../src/cache/json-cache.ts';
import type { RedisClient } from '../src/redis/redis-client.ts';
import { storeContract } from '../src/testing/store-contract.ts';

const server = await startRedis();
const skip = server === undefined && 'there is no redis-server on PATH';
after(() => server?.stop());

interface Connected {
  client: RedisClient;
  close(): Promise<unknown> | void;
}

const clients: Record<string, (redis: RedisServer) => Promise<Connected>> = {
  async iovalkey({ url }) {
    const client = new Iovalkey(url);
    await client.ping();
    return { client, close: () => client.disconnect() };
  },
  async 'node-redis'({ url }) {
    const client = await createClient({ url }).connect();
    return { client, close: () => client.destroy() };
  },
};

for (const [name, connect] of Object.entries(clients)) {
  describe(`redisStore over ${name}`, { skip }, () => {
    let connected: Connected;
    before(async () => {
      connected = await connect(server as RedisServer);
    });
    after(() => connected.close());

    storeContract(() => redisStore(connected.client));

    it('has a list under the key replaced, as any other value that is no JSON', async () => {
      const admin = new Redis((server as RedisServer).url);
      await admin.lpush(`mine:/list:${name}`, 'x');
      await admin.quit();
      const store = redisStore(connected.client, { keyPrefix: 'mine:' });
      const cache = new JsonCache({ store, logger: false, timeoutMs: 30_000 });
      assert.equal(await cache.answer(`/list:${name}`, () => ({ good: true })), '{"good":true}');
      assert.equal(cache.isStoreDown, false);
      const again = await cache.answer(`/list:${name}`, () => assert.fail('not replaced'));
      assert.equal(again, '{"good":true}');
    });
  });
}

describe('redisStore over a node-redis that is not connected', () => {
  it('says so at once, for a client and for a cluster', () => {
    const client = createClient({ url: 'redis://127.0.0.1:1' });
    const cluster = createCluster({ rootNodes: [{ url: 'redis://127.0.0.1:1' }] });
    for (const each of [client, cluster])
      assert.throws(() => redisStore(each as RedisClient).get('/a'), {
        code: 'ERR_REDLINE_CACHE_STORE_NOT_READY',
        message: 'The Redis client is not ready: call its connect().',
      });
  });
});

describe('redisStore over anything else', () => {
  const others: [unknown, string][] = [
    [undefined, 'undefined'],
    [new Map(), 'a Map'],
    ['redis://127.0.0.1', 'a String'],
    [{ get() {}, set() {}, del() {} }, 'a Object'],
  ];
  for (const [other, said] of others) {
    it(`refuses it when it is made: ${said}`, () => {
      assert.throws(() => redisStore(other as RedisClient), {
        code: 'ERR_REDLINE_CACHE_OPTION',
        message: new RegExp(`^redisStore takes a client of .* was given ${said}\\.`),
      });
    });
  }
});

describe('The keys of an app', () => {
  const root = mkdtempSync(join(tmpdir(), 'redline-app-'));
  after(() => rmSync(root, { recursive: true }));
  const at = (...path: string[]): string => join(root, ...path);
  for (const app of ['api', 'admin']) mkdirSync(at('mono', 'dist', app), { recursive: true });
  mkdirSync(at('shop', 'dist'), { recursive: true });
  writeFileSync(at('mono', 'package.json'), '{"name":"mono"}');
  writeFileSync(at('shop', 'package.json'), '{"name":"@acme/shop"}');

  it('have its name, and its folder in the package that may hold several', () => {
    assert.equal(appName(at('shop', 'dist', 'main.js')), '@acme/shop/dist');
    assert.equal(appName(at('shop', 'main.js')), '@acme/shop');
    assert.equal(appName(at('mono', 'dist', 'api', 'main.js')), 'mono/dist/api');
    assert.equal(appName(at('mono', 'dist', 'admin', 'main.js')), 'mono/dist/admin');
  });

  it('have the path of its file where no package.json has a name', () => {
    const alone = mkdtempSync(join(tmpdir(), 'redline-bundle-'));
    assert.equal(appName(join(alone, 'bundle.js')), join(alone, 'bundle.js'));
    rmSync(alone, { recursive: true });
  });

  it('have the name of the app that PM2 loads, not that of PM2', () => {
    mkdirSync(at('pm2', 'lib'), { recursive: true });
    writeFileSync(at('pm2', 'package.json'), '{"name":"pm2"}');
    writeFileSync(at('pm2', 'lib', 'ProcessContainerFork.js'), 'import(process.env.pm_exec_path);');
    const store = import.meta.resolve('../src/redis/redis-store.ts');
    writeFileSync(
      at('shop', 'dist', 'main.mjs'),
      `import { redisStore } from ${JSON.stringify(store)};
       const get = () => {};
       const client = { status: 'ready', get, set: get, del: get, mget: get, eval: get, scan: get };
       console.log(redisStore(client).keyOf('/7'));`,
    );
    const key = execFileSync(process.execPath, [at('pm2', 'lib', 'ProcessContainerFork.js')], {
      encoding: 'utf8',
      env: { ...process.env, NODE_NO_WARNINGS: '1', pm_exec_path: at('shop', 'dist', 'main.mjs') },
    });
    assert.equal(key.trim(), 'redline:json:@acme/shop/dist:/7');
  });

  it('are those of another app no longer, on one Redis', { skip }, async () => {
    const { url } = server as RedisServer;
    const client = new Redis(url);
    await client.ping();
    const key = '/the-same-url';
    await redisStore(client).set(key, '1', 60_000);
    assert.equal(await client.get(`redline:json:${appName()}:${key}`), '1');
    assert.equal(await client.get(`redline:json:${key}`), null);
    await client.quit();
  });
});
