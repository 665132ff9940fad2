/* oxlint-disable oxc/no-async-endpoint-handlers -- Fastify handles their rejections. */
// Responses that are renewed behind others, at the engine and beside @redline/defer; and what purge drops there.
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { createDefer } from '@redline/defer';
import { fastifyDefer } from '@redline/defer/fastify';
import { isRenewal, JsonCache } from '@redline/response-cache';
import { fastifyCache } from '@redline/response-cache/fastify';
import { fastify } from 'fastify';
import { ask } from '../../packages/response-cache/test/ask.ts';
import { until } from '@redline/services/until';
import { fill, frameworks, skip, startApp } from './apps.ts';

for (const framework of frameworks) {
  describe(`Behind a response of the engine, by ${framework}`, { skip }, () => {
    it('a new one is made, while everyone gets the old one', async (t) => {
      const gate = Promise.withResolvers<void>();
      let version = 1;
      const policy = { at: 'engine', ttl: 400, stale: 600_000, renew: 'behind' } as const;
      const app = await startApp(t, framework, policy, {
        async handler() {
          if (version === 2) await gate.promise;
          return { version };
        },
      });
      await fill(app, '/items/1');
      version = 2;
      await until('it is outdated, and being made', async () => {
        assert.equal(await app.text('/items/1'), '{"version":1}');
        return app.runs() > 1;
      });
      for (let i = 0; i < 5; i++) assert.equal(await app.text('/items/1'), '{"version":1}');
      gate.resolve();
      await until('it is sent', async () => (await app.text('/items/1')) === '{"version":2}');
    });

    it('purge drops what it deletes', async (t) => {
      const app = await startApp(t, framework, { at: 'engine', ttl: 600_000 });
      for (const id of [1, 2, 3]) await fill(app, `/items/${id}`);
      const runs = app.runs();
      await app.cache.purge({ url: '/items/1' });
      await app.text('/items/1');
      await app.text('/items/2');
      assert.equal(app.runs(), runs + 1);
      await app.cache.purge({ prefix: '/items/' });
      for (const id of [1, 2, 3]) await app.text(`/items/${id}`);
      assert.equal(app.runs(), runs + 4);
    });
  });
}

describe('A renewal beside @redline/defer', () => {
  it('is work behind its response, for which the end of the process waits', async (t) => {
    const deferrer = createDefer({ sinks: {}, logger: false } as never);
    const app = fastify();
    t.after(() => app.close());
    const cache = new JsonCache({ logger: false });
    await app.register(fastifyDefer, { deferrer });
    await app.register(fastifyCache, { cache });
    const gate = Promise.withResolvers<void>();
    const asked: boolean[] = [];
    const policy = { ttl: 1, stale: 600_000, renew: 'behind', at: 'hook' } as const;
    app.get('/', { config: { cache: policy } }, async (request) => {
      asked.push(isRenewal(request));
      if (asked.length === 2) await gate.promise;
      return { run: asked.length };
    });
    await app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = app.server.address() as AddressInfo;
    await ask(port, '/');
    await until('it is outdated', async () => {
      assert.equal((await ask(port, '/')).text, '{"run":1}');
      return asked.length === 2;
    });
    assert.deepEqual(asked, [false, true]);
    let isClosed = false;
    const closed = deferrer.close().then(() => (isClosed = true));
    for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate);
    assert.equal(isClosed, false);
    gate.resolve();
    await closed;
    assert.equal(cache.stats.stores, 2);
  });
});
