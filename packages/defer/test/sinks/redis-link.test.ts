import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { after, describe, it } from 'node:test';
import { startRedis } from '@redline/services';
import { Redis } from 'ioredis';
import { RedisLink } from '../../src/redis/redis-link.ts';
import { until } from '@redline/services/until';

import { host } from '../../src/testing/deliveries.ts';

const server = await startRedis();
after(() => server?.stop());

describe('the life of a Redis', { skip: server === undefined && 'no redis-server' }, () => {
  it('is another one when the server took over the data of another and was promoted', async (t) => {
    const [one, other] = [await startRedis(), await startRedis()];
    t.after(() => one!.stop());
    t.after(() => other!.stop());
    const spy = host();
    const like = new Redis(one!.url, { lazyConnect: true });
    const link = new RedisLink(like, spy, { askEveryMs: 20, answerMs: 60_000 });
    t.after(() => link.close());
    await link.ready(AbortSignal.timeout(60_000));
    await until('signs of life', () => spy.generations.length > 2);
    assert.equal(new Set(spy.generations).size, 1);
    const admin = new Redis(one!.url);
    t.after(() => admin.disconnect());
    const runId = /run_id:(\w+)/.exec(await admin.info('server'))![1];
    await admin.set('written', 'lost');
    await admin.call('REPLICAOF', '127.0.0.1', new URL(other!.url).port);
    await until('the resync', async () =>
      /master_link_status:up/.test(await admin.info('replication')),
    );
    await admin.call('REPLICAOF', 'NO', 'ONE');
    assert.equal(await admin.get('written'), null);
    assert.equal(/run_id:(\w+)/.exec(await admin.info('server'))![1], runId);
    const before = spy.generations[0];
    await until('another generation', () => spy.generations.at(-1) !== before);
  });
});

describe('the connection to Redis', { skip: server === undefined && 'no redis-server' }, () => {
  it('is replaced when it has died and does not say so', async (t) => {
    const { port } = new URL(server!.url);
    const connections: { isSilent: boolean; ends: Socket[] }[] = [];
    const proxy = createServer((near) => {
      const far = connect(Number(port), '127.0.0.1');
      const connection = { isSilent: false, ends: [near, far] };
      connections.push(connection);
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        from.on('data', (chunk) => connection.isSilent || to.write(chunk));
        from.on('error', () => {});
        from.on('close', () => connection.isSilent || to.destroy());
      }
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    t.after(() => {
      for (const { ends } of connections) for (const end of ends) end.destroy();
      proxy.close();
    });
    const like = new Redis((proxy.address() as AddressInfo).port, { lazyConnect: true });
    const spy = host();
    const link = new RedisLink(like, spy, { askEveryMs: 20, answerMs: 200 });
    t.after(() => link.close());
    await link.ready(AbortSignal.timeout(60_000));
    // Also of a server that is asked nothing, the core hears that it is still the same.
    await until('signs of life', () => spy.generations.length > 2);
    for (const connection of connections) connection.isSilent = true;
    await until('another connection', () => connections.length > 1);
    await until('its introduction', () => spy.availability.at(-1) === true);
    assert.deepEqual(spy.availability, [true, false, true]);
    assert.equal(new Set(spy.generations).size, 1);
    assert.equal(await link.client.ping(), 'PONG');
  });
});
