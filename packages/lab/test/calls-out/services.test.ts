// cspell:ignore hgetall lpush
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { obtainRedis, startMariadb } from '@redline/services';
import { lines, WatchedApp } from './watched-app.ts';

const redis = await obtainRedis();
const mariadb = await startMariadb();
const other = createServer((request, response) => {
  request.resume();
  response.end(`${request.method} of another service`);
}).listen(0, '127.0.0.1');
await once(other, 'listening');
const origin = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
let app: WatchedApp;

async function linesOf(path: string): Promise<string[]> {
  const { summary, requests } = await app.route(path);
  assert.doesNotMatch(JSON.stringify(requests), /secret/);
  return lines(summary)
    .map((line) => line.replace(origin, 'ORIGIN'))
    .toSorted();
}

describe('what a request calls', () => {
  before(async () => {
    app = await WatchedApp.start('services.mjs', {
      OTHER_URL: origin,
      ...(redis.url === undefined ? {} : { REDIS_URL: redis.url }),
      ...(mariadb.server && { MYSQL_URL: mariadb.server.url }),
    });
  });
  after(async () => {
    await app[Symbol.asyncDispose]();
    await Promise.all([redis.stop(), mariadb.server?.stop()]);
    other.close();
  });

  test(
    'through ioredis and node-redis',
    { skip: 'missing' in redis ? redis.missing : false },
    async () => {
      assert.deepEqual(await linesOf('/ioredis'), [
        'viaIoredis: 1 × GET user:*:* (one)',
        'viaIoredis: 3 × HGETALL cart:* (together)',
      ]);
      assert.deepEqual(await linesOf('/ioredis-fails'), ['failsInRedis: 1 × LPUSH user:*:* (one)']);
      assert.deepEqual(await linesOf('/node-redis'), [
        'viaNodeRedis: 1 × LPUSH user:*:* (one)',
        'viaNodeRedis: 2 × GET user:*:* (together)',
      ]);
    },
  );

  test('through node:http, fetch and undici', async () => {
    assert.deepEqual(await linesOf('/http'), ['bodyOf: 1 × GET ORIGIN/users/* (one)']);
    assert.deepEqual(await linesOf('/fetch'), ['viaFetch: 1 × POST ORIGIN/users/* (one)']);
    assert.deepEqual(await linesOf('/undici'), ['viaUndici: 1 × GET ORIGIN/users/* (one)']);
  });

  test('through mysql2', { skip: mariadb.missing ?? false }, async () => {
    assert.deepEqual(await linesOf('/mysql'), [
      'viaMysql: 1 × SELECT name FROM users WHERE id = ? (one)',
      'viaMysql: 1 × SELECT name FROM users WHERE id = ? AND name <> ? (one)',
    ]);
    assert.deepEqual(await linesOf('/mysql-callbacks'), [
      'viaCallbacks: 1 × SELECT missing FROM users WHERE name = ? (one)',
    ]);
    assert.deepEqual(await linesOf('/mysql-events'), ['viaEvents: 1 × SELECT id FROM users (one)']);
  });

  test('through better-sqlite3, which blocks instead of waiting', async () => {
    assert.deepEqual(await linesOf('/sqlite'), [
      'viaSqlite: 1 × SELECT id FROM users WHERE id = ? AND name = ? (one)',
    ]);
  });
});
