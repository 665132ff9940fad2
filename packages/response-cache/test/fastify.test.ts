import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fastifyCompress } from '@fastify/compress';
import { fastify, type FastifyInstance } from 'fastify';
import { fastifyCache, type FastifyCachePolicy } from '../src/adapters/fastify.ts';
import { JsonCache, memoryStore, type JsonCacheOptions, type RouteDefaults } from '../src/index.ts';
import { clockOf } from './clock.ts';
import { rawRequest, requestsFor } from './raw-request.ts';
import { until } from '@redline/services/until';

interface Started {
  readonly app: FastifyInstance;
  readonly cache: JsonCache;
  readonly lines: string[];
  text(path: string, init?: RequestInit): Promise<string>;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  port(): number;
}

async function start(
  t: TestContext,
  routes: (app: FastifyInstance, cache: JsonCache) => void | Promise<void>,
  defaults: RouteDefaults = {},
  options: JsonCacheOptions = {},
): Promise<Started> {
  const lines: string[] = [];
  const push = (line: string): void => void lines.push(line);
  const cache = new JsonCache({ logger: { log: push, warn: push }, ...options });
  const app = fastify();
  await app.register(fastifyCache, { cache, hosts: 'any', ...defaults });
  await routes(app, cache);
  t.after(() => app.close());
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const get = (path: string, init?: RequestInit): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}${path}`, init);
  return {
    app,
    cache,
    lines,
    fetch: get,
    text: async (path, init) => (await get(path, init)).text(),
    port: () => port,
  };
}

const withCache = (cache: FastifyCachePolicy): { config: { cache: FastifyCachePolicy } } => ({
  config: { cache },
});

for (const at of ['handler', 'hook', 'engine'] as const) {
  describe(`A cached route of Fastify, at: '${at}'`, () => {
    it('runs its handler once, however that answers', async (t) => {
      let runs = 0;
      const { text, cache, fetch } = await start(t, (app) => {
        app.get('/returned/:id', withCache({ at }), async ({ params }) => ({
          ...(params as object),
          run: (runs += 1),
        }));
        app.get('/sync', withCache({ at }), () => ({ run: (runs += 1) }) as never);
        app.get('/sent', withCache({ at }), (_request, reply) => {
          reply.send({ run: (runs += 1) });
        });
        app.get('/sent-later', withCache({ at }), (_request, reply) => {
          setImmediate(() =>
            reply
              .code(203)
              .header('x-of', 'answer')
              .send({ run: (runs += 1) }),
          );
        });
        app.get('/sent-and-returned', withCache({ at }), async (_request, reply) => {
          await nextTurn();
          return reply.send({ run: (runs += 1) });
        });
      });
      for (const path of ['/returned/7', '/sync', '/sent', '/sent-later', '/sent-and-returned']) {
        const first = await text(path);
        const before = runs;
        for (let i = 0; i < 3; i++) assert.equal(await text(path), first, path);
        assert.equal(runs, before, path);
      }
      assert.equal(cache.stats.hits, 15);
      const kept = await fetch('/sent-later');
      assert.deepEqual([kept.status, kept.headers.get('x-of')], [203, 'answer']);
    });

    it('leaves the methods that a plugin has put on the reply and its response where they were', async (t) => {
      const sent: string[] = [];
      const left: boolean[] = [];
      const { fetch } = await start(
        t,
        (app) => {
          app.addHook('onRequest', async (request, reply) => {
            const { send } = reply;
            reply.send = function (this: typeof reply, payload: unknown) {
              sent.push(request.method);
              return send.call(this, payload);
            };
            const { writeHead } = reply.raw;
            const own = function (this: typeof reply.raw, ...args: unknown[]): unknown {
              return Reflect.apply(writeHead, this, args);
            };
            reply.raw.writeHead = own as typeof writeHead;
            const ownSend = reply.send;
            reply.raw.once('finish', () => {
              left.push(reply.send === ownSend && reply.raw.writeHead === own);
            });
          });
          app.get('/', withCache({ at }), async () => ({ id: 7 }));
        },
        { headers: ['etag'] },
      );
      const first = await fetch('/');
      const headers = { 'if-none-match': first.headers.get('etag')! };
      assert.equal(await first.text(), '{"id":7}');
      const conditional = await fetch('/', { method: 'HEAD', headers });
      assert.equal(conditional.status, 304);
      assert.equal(await (await fetch('/')).text(), '{"id":7}');
      await until('three responses', () => left.length === 3);
      assert.deepEqual(left, [true, true, true]);
      assert.deepEqual(sent, ['GET', 'HEAD', 'GET']);
    });

    it('answers HEAD from what was kept for GET', async (t) => {
      let runs = 0;
      const { text, fetch } = await start(t, (app) => {
        app.get('/', withCache({ at }), () => ({ run: (runs += 1) }) as never);
      });
      const body = await text('/');
      const head = await fetch('/', { method: 'HEAD' });
      assert.equal(head.headers.get('content-length'), String(body.length));
      assert.equal(runs, 1);
    });

    it('does not keep what is not to be shared, and sends it as without the cache', async (t) => {
      const { text, fetch, cache } = await start(t, (app) => {
        app.get('/text', withCache({ at }), () => 'plain' as never);
        app.get('/cookie', withCache({ at }), async (_request, reply) => {
          reply.header('set-cookie', 'a=b');
          return { own: true };
        });
        app.get('/missing', withCache({ at }), (_request, reply) => {
          reply.code(404).send({ missing: true });
        });
        app.get('/elsewhere', withCache({ at }), (_request, reply) => {
          void reply.redirect('/text');
        });
        app.get('/raw', withCache({ at }), (_request, reply) => {
          reply.hijack();
          reply.raw.end('raw');
        });
        app.get('/nothing', withCache({ at }), async () => undefined);
        app.get('/own', withCache({ at }), (_request, reply) => {
          reply.serializer((value) => `<${JSON.stringify(value)}>`).send({ a: 1 });
        });
      });
      for (let i = 0; i < 2; i++) {
        assert.equal(await text('/text'), 'plain');
        assert.equal((await fetch('/cookie')).headers.get('set-cookie'), 'a=b');
        assert.equal((await fetch('/missing')).status, 404);
        assert.equal((await fetch('/elsewhere', { redirect: 'manual' })).status, 302);
        assert.equal(await text('/raw'), 'raw');
        assert.equal(await text('/nothing'), '');
        assert.equal(await text('/own'), '<{"a":1}>');
      }
      assert.deepEqual([cache.stats.hits, cache.stats.stores], [0, 0]);
    });

    it('gives the error of one run to all who wait, and keeps nothing', async (t) => {
      let runs = 0;
      let arrived = 0;
      const { fetch } = await start(t, (app) => {
        app.server.on('request', () => (arrived += 1));
        app.get('/', withCache({ at }), async () => {
          runs += 1;
          await until('five requests', () => arrived === 5);
          // Those that have arrived are waiting by then.
          await nextTurn();
          throw new Error(`run ${runs}`);
        });
      });
      const all = await Promise.all(Array.from({ length: 5 }, () => fetch('/')));
      assert.deepEqual(
        all.map(({ status }) => status),
        [500, 500, 500, 500, 500],
      );
      // That of the first, and one for the others.
      assert.equal(runs, 2);
    });

    it('sends the old response where a handler fails, with `stale`', async (t) => {
      const clock = clockOf(t);
      let fails = false;
      const { text, cache } = await start(t, (app) => {
        app.get('/', withCache({ at, ttl: 10, stale: 60_000 }), async (_request, reply) => {
          if (fails) return reply.code(500).send(new Error('the database is down'));
          return { good: true };
        });
      });
      assert.equal(await text('/'), '{"good":true}');
      fails = true;
      clock.advance(20);
      assert.equal(await text('/'), '{"good":true}');
      assert.equal(cache.stats.stale, 1);
    });

    it('keeps callers apart, and those who are not named out', async (t) => {
      let runs = 0;
      const answer = (): never => ({ run: (runs += 1) }) as never;
      const { text, fetch } = await start(
        t,
        (app) => {
          app.get('/private', withCache({ at }), answer);
          app.get('/named', withCache({ at, identify: { header: 'x-api-key' } }), answer);
        },
        { headers: ['x-cache'] },
      );
      const authorization = { headers: { authorization: 'me' } };
      await text('/private');
      const own = await fetch('/private', authorization);
      assert.equal(own.headers.get('x-cache'), 'BYPASS');
      assert.equal(await own.text(), '{"run":2}');
      const of = (key: string): Promise<string> =>
        text('/named', { headers: { 'x-api-key': key } });
      assert.deepEqual(
        [await of('a'), await of('b'), await of('a')],
        ['{"run":3}', '{"run":4}', '{"run":3}'],
      );
    });

    it('forgets what was invalidated, before that is acknowledged', async (t) => {
      let price = 1;
      const { text } = await start(t, (app, cache) => {
        const policy: FastifyCachePolicy = {
          at,
          tags: ({ params }) => [`product:${params.id}`],
        };
        app.get('/products/:id', withCache(policy), async () => ({ price }));
        app.put('/products/:id', async ({ params }) => {
          price += 1;
          await cache.invalidate(`product:${(params as { id: string }).id}`);
          return {};
        });
      });
      for (let i = 0; i < 3; i++) {
        for (let j = 0; j < 4; j++) assert.equal(await text('/products/7'), `{"price":${price}}`);
        await text('/products/7', { method: 'PUT' });
      }
    });

    it('keeps routes of one URL apart', async (t) => {
      const { text } = await start(t, (app) => {
        for (const version of ['1.0.0', '2.0.0'])
          app.get('/', { ...withCache({ at }), constraints: { version } }, async () => ({
            version,
          }));
      });
      for (let i = 0; i < 2; i++)
        for (const version of ['1.0.0', '2.0.0'])
          assert.equal(
            await text('/', { headers: { 'accept-version': version } }),
            JSON.stringify({ version }),
          );
    });
  });
}

describe('The places of Fastify', () => {
  const answered = async (t: TestContext, at: FastifyCachePolicy['at']): Promise<object> => {
    const { port, text } = await start(
      t,
      (app) => {
        app.addHook('onSend', async (_request, reply) => void reply.header('X-Sent', 'by onSend'));
        app.get('/', withCache({ at }), async (_request, reply) => {
          reply.header('X-Total', 3).header('vary', 'accept-encoding');
          return { text: 'naïve 日本語' };
        });
      },
      { headers: ['etag', 'x-cache'] },
    );
    for (let i = 0; i < 4; i++) await text('/');
    const etag = (await fetch(`http://127.0.0.1:${port()}/`)).headers.get('etag') as string;
    const answers: Record<string, string> = {};
    for (const [name, head] of Object.entries(requestsFor('/', etag)))
      answers[name] = await rawRequest(port(), head);
    return answers;
  };

  it('send the same, to the byte', async (t) => {
    const atHandler = await answered(t, 'handler');
    assert.deepEqual(await answered(t, 'hook'), atHandler);
    assert.deepEqual(await answered(t, 'engine'), atHandler);
  });

  it('of hits: the hook, which runs nothing that stands between it and the handler', async (t) => {
    const ran: string[] = [];
    const { text } = await start(t, (app) => {
      app.addHook('onRequest', async () => void ran.push('onRequest'));
      app.addHook('preHandler', async () => void ran.push('preHandler'));
      app.addHook('onResponse', async () => void ran.push('onResponse'));
      app.get('/', withCache({ at: 'hook', guards: 'skipped' }), async () => ({}));
    });
    await text('/');
    ran.length = 0;
    await text('/');
    assert.deepEqual(ran, ['onRequest', 'onResponse']);
  });

  it('are told at start, with the reason why not earlier', async (t) => {
    const { lines } = await start(t, (app) => {
      const answer = async (): Promise<object> => ({});
      app.get('/default', withCache({}), answer);
      app.get('/hook', withCache({ at: 'hook' }), answer);
      app.get('/engine', withCache({ at: 'engine' }), answer);
      const schema = { headers: { type: 'object' } };
      app.get('/schema', { ...withCache({ at: 'hook' }), schema }, answer);
      app.get(
        '/function',
        {
          ...withCache({ at: 'hook', guards: 'skipped', identify: () => 'me' }),
          preHandler: async function authenticate() {},
        },
        answer,
      );
    });
    assert.deepEqual(lines, [
      'Hits of GET /hook are answered by the hook.',
      'Hits of GET /engine are answered by the hook, not by the engine: the server is that of node:http, not that of @redline/http.',
      'Hits of GET /schema are answered in place of the handler, not by the hook: its schema validates the headers of each request.',
      'Hits of GET /function are answered in place of the handler, not by the hook: identify is a function, which may read what authenticate finds out; name a header or a cookie.',
    ]);
  });

  it('do not include one above a guard: the app does not start', async () => {
    for (const hook of ['preParsing', 'preValidation', 'preHandler'] as const) {
      const app = fastify();
      await app.register(fastifyCache, { cache: new JsonCache({ logger: false }) });
      app.get(
        '/',
        { ...withCache({ at: 'hook' }), [hook]: async function authenticate() {} },
        async () => ({}),
      );
      await assert.rejects(async () => app.ready(), {
        code: 'ERR_REDLINE_CACHE_GUARD',
        message: /^GET \/ has at: 'hook', but authenticate would not run on hits/,
      });
      await app.close();
    }
    // One that is added behind the routes.
    const app = fastify();
    await app.register(fastifyCache, { cache: new JsonCache({ logger: false }) });
    app.get('/', withCache({ at: 'hook' }), async () => ({}));
    app.addHook('preHandler', async function late() {});
    await assert.rejects(async () => app.ready(), {
      code: 'ERR_REDLINE_CACHE_GUARD',
      message: /late/,
    });
    await app.close();
  });

  it('include the hook beside @fastify/compress, whose own hook unpacks bodies of requests', async (t) => {
    const lines: string[] = [];
    const logger = { warn: () => {}, log: (line: string) => void lines.push(line) };
    const app = fastify();
    t.after(() => app.close());
    await app.register(fastifyCompress, { threshold: 0 });
    await app.register(fastifyCache, { cache: new JsonCache({ logger }) });
    app.get('/', withCache({ at: 'hook' }), async () => ({ text: 'a'.repeat(2_000) }));
    await app.ready();
    assert.deepEqual(lines, ['Hits of GET / are answered by the hook.']);
    for (const headers of [{}, { 'accept-encoding': 'gzip' }]) {
      const response = await app.inject({ url: '/', headers });
      assert.equal(response.statusCode, 200);
      assert.equal(response.headers['content-encoding'], headers['accept-encoding']);
    }
  });

  it('leave to the handler what the hook cannot tell: an identify that throws, a store that is down', async (t) => {
    const store = memoryStore();
    let runs = 0;
    const { text, cache } = await start(
      t,
      (app) => {
        const identify = ({ query }: { query: any }): string => query.of.trim();
        app.get('/', withCache({ at: 'hook', identify }), async () => ({ run: (runs += 1) }));
      },
      {},
      { store },
    );
    assert.match(await text('/'), /Internal Server Error/);
    assert.equal(await text('/?of=me'), '{"run":1}');
    assert.equal(await text('/?of=me'), '{"run":1}');
    store.get = () => {
      throw new Error('down');
    };
    assert.equal(await text('/?of=me'), '{"run":2}');
    assert.equal(cache.isStoreDown, true);
    cache.close();
  });

  it('run the hook in the context of its request, and those behind it', async (t) => {
    const { AsyncLocalStorage } = await import('node:async_hooks');
    const storage = new AsyncLocalStorage<string>();
    const { text } = await start(t, (app) => {
      app.addHook('onRequest', (request, _reply, done) => storage.run(request.url, done));
      app.get('/*', withCache({ at: 'hook' }), async () => ({ of: storage.getStore() }));
    });
    const paths = Array.from({ length: 20 }, (_, n) => `/${n}`);
    assert.deepEqual(
      await Promise.all(paths.map((path) => text(path))),
      paths.map((path) => JSON.stringify({ of: path })),
    );
  });
});

describe('A cached route of Fastify behind a hook that finds out the caller', () => {
  for (const property of ['session', 'account', 'principal'])
    it(`shares nothing where that is on request.${property}`, async (t) => {
      const { text, cache } = await start(t, (app) => {
        app.decorateRequest(property, null);
        app.addHook('preHandler', async (request) => {
          const own = request as unknown as Record<string, unknown>;
          if (request.headers['x-device'] !== undefined) own[property] = { of: 'ann' };
        });
        let runs = 0;
        app.get('/', withCache({}), async () => ({ run: (runs += 1) }));
      });
      const known = { headers: { 'x-device': 'ann' } };
      assert.equal(await text('/', known), '{"run":1}');
      assert.equal(await text('/', known), '{"run":2}');
      // With it, the header that the hook reads becomes known, which is part of the key from then on.
      assert.equal(await text('/'), '{"run":3}');
      assert.equal(await text('/'), '{"run":4}');
      assert.equal(await text('/'), '{"run":4}');
      assert.equal(cache.stats.stores, 1);
    });
});

describe('fastifyCache', () => {
  it('refuses a route that is not read, an unknown option and a word that is none', async () => {
    const cases: [object, RegExp][] = [
      [{ method: 'POST', config: { cache: {} } }, /POST \/ has a cache in its config/],
      [{ method: 'GET', config: { cache: { tttl: 1 } } }, /Unknown option "tttl" of GET \//],
      [{ method: 'GET', config: { cache: { at: 'moon' } } }, /at of GET \/ must be 'engine' or/],
      [
        { method: 'GET', config: { cache: { guards: true } } },
        /guards of GET \/ must be 'skipped'/,
      ],
    ];
    for (const [route, message] of cases) {
      const app = fastify();
      await app.register(fastifyCache, { cache: new JsonCache() });
      assert.throws(() => app.route({ url: '/', handler: async () => ({}), ...route } as never), {
        code: 'ERR_REDLINE_CACHE_OPTION',
        message,
      });
      await app.close();
    }
  });
});
