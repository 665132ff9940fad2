// A cached route behind deferred work: a response that becomes a 503 because its jobs are not safe is not kept as a 200.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createDefer, defineJob, type Deferrer } from '@redline/defer';
import { expressDefer } from '@redline/defer/express';
import { fastifyDefer } from '@redline/defer/fastify';
import { handlers } from '@redline/defer/sinks/handlers';
import { JsonCache } from '@redline/response-cache';
import { cached } from '@redline/response-cache/express';
import { fastifyCache } from '@redline/response-cache/fastify';
import express from 'express';
import { fastify } from 'fastify';
import { until } from '@redline/services/until';

const job = defineJob<string>('job');

/** Returns its port. */
type Start = (
  t: TestContext,
  cache: JsonCache,
  deferrer: Deferrer,
  run: () => object,
) => Promise<number>;

const starts: Record<string, Start> = {
  async Express(t, cache, deferrer, run) {
    const app = express();
    app.use(expressDefer(deferrer));
    app.get('/', cached(cache, {}, { hosts: 'any' }), (_request, response) => {
      response.json(run());
    });
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  },
  async Fastify(t, cache, deferrer, run) {
    const app = fastify();
    t.after(() => app.close());
    await app.register(fastifyDefer, { deferrer, closeWithApp: false });
    await app.register(fastifyCache, { cache, hosts: 'any' });
    app.get('/', { config: { cache: {} } }, async () => run());
    await app.listen({ port: 0, host: '127.0.0.1' });
    return (app.server.address() as AddressInfo).port;
  },
};

for (const [framework, start] of Object.entries(starts)) {
  describe(`A cached response of ${framework} that is refused after its handler`, () => {
    it('is forgotten: a retry reaches the handler, whose next response is kept', async (t) => {
      const directory = mkdtempSync(join(tmpdir(), 'refused-'));
      const delivered = Promise.withResolvers<void>();
      const deferrer = createDefer({
        journal: { directory },
        sinks: { default: handlers({ job: () => delivered.promise }) },
        acknowledgeTimeoutMs: 50,
        logger: false,
      });
      t.after(async () => {
        delivered.resolve();
        await deferrer.close();
        rmSync(directory, { recursive: true });
      });
      const cache = new JsonCache({ ttl: 600_000, logger: false });
      t.after(() => cache.close());
      let hasWork = true;
      let runs = 0;
      const port = await start(t, cache, deferrer, () => {
        if (hasWork) deferrer.defer(job, 'late', { level: 'sink' });
        return { run: (runs += 1) };
      });
      const get = (): Promise<Response> => fetch(`http://127.0.0.1:${port}/`);

      const refused = await get();
      assert.equal(refused.status, 503);
      assert.match(await refused.text(), /ERR_REDLINE_DEFER/);
      // The default store answers at once.
      await until('it to be forgotten', () => cache.peek('3:url-----0:1:/') === undefined);

      hasWork = false;
      assert.deepEqual(await (await get()).json(), { run: 2 });
      await until('the response to be kept', () => cache.stats.stores === 2);
      assert.deepEqual(await (await get()).json(), { run: 2 });
    });
  });
}
