// Hits of Fastify and Express on the engine: it answers as the hook and the handler do, and forgets what they forget.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRedis } from '@redline/services';
import { fastify } from 'fastify';
import { serverFactory } from '@redline/http';
import { JsonCache, tieredStore, type CachePolicy, type Place } from '@redline/response-cache';
import { fastifyCache } from '@redline/response-cache/fastify';
import { Redis } from 'ioredis';
import { requestsFor } from '../../packages/response-cache/test/raw-request.ts';
import { until } from '@redline/services/until';
import {
  fill,
  frameworks,
  skip,
  startApp,
  type AppOptions,
  type Framework,
  type Handler,
} from './apps.ts';

const line = 'GET /items/7 HTTP/1.1';
const tags = ({ params }: { params: any }): string[] => [`item:${params.id}`];

/** What an app says to each kind of request once it has all of them. */
async function answeredAt(
  t: TestContext,
  framework: Framework,
  at: Place,
  policy: CachePolicy<any>,
  options: AppOptions,
): Promise<Record<string, string>> {
  const app = await startApp(t, framework, { at, ...policy }, options);
  const etag = /^etag: (.*)\r$/im.exec(await app.raw(line))?.[1];
  const requests = requestsFor('/items/7', etag);
  const answers: Record<string, string> = {};
  for (const [name, head] of Object.entries(requests))
    for (let times = 0; times < 5; times++) answers[name] = await app.raw(...head);
  assert.equal(app.stats().hits > 0, at === 'engine', JSON.stringify(app.stats()));
  return answers;
}

for (const framework of frameworks) {
  describe(`A cached route of ${framework} on the engine`, { skip, timeout: 600_000 }, () => {
    const cases: Record<string, [CachePolicy<any>, AppOptions]> = {
      'of a plain response': [{}, {}],
      'with the headers of the cache': [
        {},
        { defaults: { hosts: 'any', headers: ['etag', 'x-cache'] } },
      ],
      'with a status, a type and other headers of its own': [
        { ttl: 60_000, stale: 60_000 },
        {
          defaults: { hosts: 'any', headers: ['etag'] },
          handler: (id, reply) => {
            reply.status(203);
            reply.header('X-Total', '3');
            reply.header('content-type', 'application/vnd.api+json');
            reply.header('Cache-Control', 'public, max-age=5');
            return { id };
          },
        },
      ],
      'with a type of its own and a 304': [
        {},
        {
          defaults: { hosts: 'any', headers: ['etag'] },
          handler: (id, reply) => {
            reply.header('content-type', 'application/vnd.api+json');
            return { id };
          },
        },
      ],
      'with an ETag of its own': [
        {},
        {
          handler: (id, reply) => {
            reply.header('ETag', '"own"');
            return { id };
          },
        },
      ],
      'with Vary, and what is set for every response': [
        {},
        {
          handler: (id, reply) => {
            reply.header('Vary', 'Accept-Encoding');
            return { id };
          },
          onSend: (reply) => reply.header('X-Always', 'there'),
        },
      ],
      'for each host': [{ vary: ['accept'] }, { defaults: {} }],
    };
    for (const [name, [policy, options]] of Object.entries(cases)) {
      it(`sends the same at each place, to the byte: ${name}`, async (t) => {
        const atHandler = await answeredAt(t, framework, 'handler', policy, options);
        assert.deepEqual(await answeredAt(t, framework, 'hook', policy, options), atHandler);
        assert.deepEqual(await answeredAt(t, framework, 'engine', policy, options), atHandler);
      });
    }

    it('is answered by the engine, and says so', async (t) => {
      const app = await startApp(t, framework, { at: 'engine' });
      await fill(app, '/items/7');
      assert.deepEqual(app.lines, ['Hits of GET /items/:id are answered by the engine.']);
      assert.equal(app.runs(), 1);
      assert.equal(app.cache.stats.engineKept, 1);
    });

    it('keeps out who shows who he is', async (t) => {
      const app = await startApp(t, framework, { at: 'engine' });
      const shared = await fill(app, '/items/7');
      for (const name of [
        'Authorization',
        'Proxy-Authorization',
        'X-API-Key',
        'API-Key',
        'X-Auth-Token',
        'X-Access-Token',
        'X-Tenant-Id',
        'X-User-Id',
        'Cookie',
      ]) {
        const before = app.runs();
        for (let times = 0; times < 3; times++)
          assert.notEqual(await app.raw(line, `${name}: me=1`), shared, name);
        assert.equal(app.runs(), before + 3, name);
      }
      assert.equal(await app.raw(line, 'Cookie: _ga=1'), shared);
    });

    it('ignores cookies where they are ignored', async (t) => {
      const app = await startApp(t, framework, { at: 'engine', cookies: 'ignore' });
      const shared = await fill(app, '/items/7', 'Cookie: theme=dark');
      assert.equal(await fill(app, '/items/7', 'Cookie: theme=light'), shared);
      assert.equal(app.runs(), 1);
    });

    for (const [name, identify, headerOf] of [
      ['header', { header: 'X-API-Key' }, (who: string) => `X-API-Key: ${who}`],
      ['cookie', { cookie: 'sid' }, (who: string) => `Cookie: theme=dark; sid=${who}`],
    ] as const) {
      it(`keeps callers apart who are known by a ${name}`, async (t) => {
        const app = await startApp(t, framework, { at: 'engine', identify });
        const own: string[] = [];
        for (const who of ['a', 'b', 'a', 'b'])
          own.push(await fill(app, '/items/7', headerOf(who)));
        assert.deepEqual(own.slice(2), own.slice(0, 2));
        assert.notEqual(own[0], own[1]);
        assert.equal(app.runs(), 2);
        // Nobody's response is kept.
        for (let times = 0; times < 4; times++) await app.raw(line);
        assert.equal(app.runs(), 6);
      });
    }

    it('forgets what is invalidated, deleted or cleared before that is acknowledged', async (t) => {
      const app = await startApp(t, framework, { at: 'engine', tags });
      const drops = {
        invalidate: () => app.cache.invalidate('item:7'),
        delete: () => app.cache.delete('3:url-----0:8:/items/7'),
        clear: () => app.cache.clear(),
      };
      const other = await fill(app, '/items/8');
      for (const [name, drop] of Object.entries(drops)) {
        const before = await fill(app, '/items/7');
        await drop();
        assert.notEqual(await app.raw(line), before, name);
        if (name !== 'clear') assert.equal(await app.raw('GET /items/8 HTTP/1.1'), other);
      }
    });

    it('does not send what has expired', async (t) => {
      const app = await startApp(t, framework, { at: 'engine', ttl: 1_000 });
      const first = await fill(app, '/items/7');
      await sleep(1_050);
      assert.notEqual(await app.raw(line), first);
    });

    it('sends the old response while one request makes the new one', async (t) => {
      let made = Promise.resolve();
      const handler: Handler = async () => {
        runs += 1;
        const own = { run: runs };
        await made;
        return own;
      };
      let runs = 0;
      const app = await startApp(
        t,
        framework,
        { at: 'engine', ttl: 1_000, stale: 600_000 },
        { handler },
      );
      const old = await fill(app, '/items/7');
      const { promise, resolve } = Promise.withResolvers<void>();
      made = promise;
      await sleep(1_050);
      const renewing = app.raw(line);
      await until('one request makes the new one', () => app.runs() === 2);
      const { staleHits } = app.stats();
      for (let times = 0; times < 3; times++) assert.equal(await app.raw(line), old);
      assert.equal(app.stats().staleHits, staleHits + 3);
      resolve();
      assert.match(await renewing, /"run":2/);
      assert.equal(app.runs(), 2);
      assert.doesNotMatch(await app.raw(line), /"run":1/);
    });

    it('does not say of an old response that it is a fresh one', async (t) => {
      const app = await startApp(
        t,
        framework,
        { at: 'engine', ttl: 1_000, stale: 600_000 },
        { defaults: { hosts: 'any', headers: ['x-cache'] } },
      );
      assert.match(await fill(app, '/items/7'), /x-cache: HIT/i);
      await sleep(1_050);
      assert.match(await app.raw(line), /x-cache: MISS/i);
      assert.equal(app.stats().staleHits, 0);
    });

    it('forgets what was kept by fewer headers than a response names now', async (t) => {
      let vary: string | undefined;
      const handler: Handler = (id, reply) => {
        if (vary !== undefined) reply.header('Vary', vary);
        return { id, vary };
      };
      const app = await startApp(t, framework, { at: 'engine' }, { handler });
      const before = await fill(app, '/items/7');
      vary = 'Accept-Language';
      await app.raw('GET /items/8 HTTP/1.1');
      assert.notEqual(await app.raw(line, 'Accept-Language: uk'), before);
    });

    it('never gets there with Vary: *, a cookie or a nonce set for all, and says so', async (t) => {
      let nonce = 0;
      const added: [string, () => string, RegExp][] = [
        ['Set-Cookie', () => 'a=b', /"set-cookie"/],
        ['X-Nonce', () => `${(nonce += 1)}`, /they differ each time/],
        ['Vary', () => '*', /"vary"/],
      ];
      for (const [name, valueOf, reason] of added) {
        const onSend: AppOptions['onSend'] = (reply) => reply.header(name, valueOf());
        const app = await startApp(t, framework, { at: 'engine' }, { onSend });
        for (let times = 0; times < 20; times++) await app.raw(line);
        assert.equal(app.stats().hits, 0, name);
        // On Express it is there before the handler: nothing is kept at all.
        if (framework === 'Fastify') assert.match(app.lines.join('\n'), reason);
      }
    });

    it('is left to the hook where the server counts its requests', async (t) => {
      const app = await startApp(
        t,
        framework,
        { at: 'engine' },
        { server: { maxRequestsPerSocket: 10 } },
      );
      for (let times = 0; times < 5; times++) await app.raw(line);
      assert.equal(app.stats().hits, 0);
      assert.match(app.lines.join('\n'), /maxRequestsPerSocket|it does not serve this server/);
    });
  });
}

describe('A route of Fastify on the engine', { skip }, () => {
  it('is answered by the hook where Fastify logs requests: each has its line', async (t) => {
    const lines: string[] = [];
    const app = fastify({
      serverFactory,
      logger: { stream: { write: (text: string) => void lines.push(text) } },
    });
    t.after(() => app.close());
    await app.register(fastifyCache, { cache: new JsonCache(), hosts: 'any' });
    app.get('/', { config: { cache: { at: 'engine' } } }, async () => ({}));
    await app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = app.server.address() as { port: number };
    for (let times = 0; times < 5; times++) await fetch(`http://127.0.0.1:${port}/`);
    assert.match(
      lines[0]!,
      /answered by the hook, not by the engine: Fastify writes a line for each request/,
    );
    await until('five lines', () => lines.join('').split('request completed').length === 6);
  });

  it('is answered by the hook where a hook decides, and by the engine where that may be skipped', async (t) => {
    const started = async (policy: CachePolicy<any>): Promise<[number, () => number]> => {
      let asked = 0;
      const app = fastify({ serverFactory });
      t.after(() => app.close());
      await app.register(fastifyCache, { cache: new JsonCache({ logger: false }), hosts: 'any' });
      app.addHook('onRequest', async function authenticate() {
        asked += 1;
      });
      app.get('/', { config: { cache: { at: 'engine', ...policy } } }, async () => ({}));
      await app.listen({ port: 0, host: '127.0.0.1' });
      return [(app.server.address() as { port: number }).port, () => asked];
    };
    for (const [policy, isSkipped] of [
      [{}, false],
      [{ guards: 'skipped' }, true],
    ] as const) {
      const [port, asked] = await started(policy);
      for (let times = 0; times < 10; times++) await fetch(`http://127.0.0.1:${port}/`);
      assert.equal(asked() < 10, isSkipped);
    }
  });
});

const redis = await startRedis();
const noRedis = redis === undefined && 'there is no redis-server on PATH';

describe('The engine before Redis', { skip: skip || noRedis, timeout: 600_000 }, () => {
  it('forgets what another process changes, and everything when the connection is lost', async (t) => {
    t.after(() => redis!.stop());
    const connect = (): Redis => {
      const client = new Redis(redis!.url);
      client.on('error', () => {});
      t.after(() => void client.disconnect());
      return client;
    };
    const keyPrefix = `places-${process.pid}:`;
    const client = connect();
    const store = tieredStore(client, { keyPrefix });
    const other = new JsonCache({
      store: tieredStore(connect(), { keyPrefix }),
      logger: false,
      timeoutMs: 30_000,
    });
    t.after(() => other.close());
    await until('a connection for invalidations', () => store.isCoherent);
    const app = await startApp(t, 'Fastify', { at: 'engine', tags }, { store });
    const drops = {
      invalidate: () => other.invalidate('item:7'),
      delete: () => other.delete('3:url-----0:8:/items/7'),
      flushall: () => client.flushall(),
    };
    for (const [name, drop] of Object.entries(drops)) {
      const before = await fill(app, '/items/7');
      await drop();
      await until(`the push of ${name}`, () => app.stats().responses === 0);
      assert.notEqual(await app.raw(line), before, name);
    }
    await fill(app, '/items/7');
    await client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub').catch(() => {});
    await until('the loss', () => app.stats().responses === 0);
    await until('a connection for invalidations', () => store.isCoherent);
    await fill(app, '/items/7');
  });
});
