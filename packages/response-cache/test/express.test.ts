/* oxlint-disable oxc/no-async-endpoint-handlers -- Express 5 handles their rejections. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import express, { type Express } from 'express';
import { cached, type ExpressCacheOptions } from '../src/adapters/express.ts';
import { JsonCache, type CachePolicy } from '../src/index.ts';
import { clockOf } from './clock.ts';
import { rawRequest, requestsFor } from './raw-request.ts';
import { until } from '@redline/services/until';

interface Started {
  readonly port: number;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  text(path: string, init?: RequestInit): Promise<string>;
}

async function start(t: TestContext, routes: (app: Express) => void): Promise<Started> {
  const app = express();
  routes(app);
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const get = (path: string, init?: RequestInit): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}${path}`, init);
  return { port, fetch: get, text: async (path, init) => (await get(path, init)).text() };
}

const makeCache = (lines: string[] = []): JsonCache => {
  const push = (line: string): void => void lines.push(line);
  return new JsonCache({ logger: { log: push, warn: push } });
};

for (const at of ['handler', 'hook', 'engine'] as const) {
  const policy: CachePolicy<any> = { at };
  const options: ExpressCacheOptions = { hosts: 'any' };

  describe(`cached() of Express, at: '${at}'`, () => {
    it('runs the handlers behind it once', async (t) => {
      const cache = makeCache();
      let runs = 0;
      const { text, fetch } = await start(t, (app) => {
        app.get('/products/:id', cached(cache, policy, options), async (request, response) => {
          await nextTurn();
          response
            .status(203)
            .set('x-of', 'answer')
            .json({ ...request.params, run: (runs += 1) });
        });
        app.get('/sent', cached(cache, policy, options), (_request, response) => {
          response.send({ run: (runs += 1) });
        });
      });
      for (const path of ['/products/7', '/sent']) {
        const first = await text(path);
        const before = runs;
        for (let i = 0; i < 3; i++) assert.equal(await text(path), first);
        assert.equal(runs, before);
      }
      const kept = await fetch('/products/7');
      assert.deepEqual([kept.status, kept.headers.get('x-of')], [203, 'answer']);
      const head = await fetch('/products/7', { method: 'HEAD' });
      assert.equal(head.status, 203);
      assert.equal(runs, 2);
    });

    it('sends the same as without it, and the same each time', async (t) => {
      const cache = makeCache();
      const { port } = await start(t, (app) => {
        const answer: express.RequestHandler = (_request, response) => {
          response.set('X-Total', '3').json({ text: 'naïve 日本語', nothing: null });
        };
        app.get('/plain', answer);
        app.get('/cached', cached(cache, policy, options), answer);
      });
      const etag = /etag: (.*)\r\n/i.exec(await rawRequest(port, ['GET /plain HTTP/1.1']))![1]!;
      const plain = requestsFor('/plain', etag);
      const requests = requestsFor('/cached', etag);
      for (let i = 0; i < 4; i++)
        for (const [name, head] of Object.entries(requests))
          assert.equal(await rawRequest(port, head), await rawRequest(port, plain[name]!), name);
      assert.equal(cache.stats.misses, 1);
    });

    it('does not keep what is not JSON or not to be shared', async (t) => {
      const lines: string[] = [];
      const cache = makeCache(lines);
      const { text, fetch } = await start(t, (app) => {
        const route = (path: string, handler: express.RequestHandler): unknown =>
          app.get(path, cached(cache, policy, options), handler);
        route('/text', (_request, response) => void response.send('plain'));
        route('/end', (_request, response) => void response.end('raw'));
        route('/cookie', (_request, response) => void response.cookie('a', 'b').json({}));
        route('/missing', (_request, response) => void response.status(404).json({ missing: 1 }));
        route('/next', (_request, _response, next) => next());
        app.get('/next', (_request, response) => void response.send('next'));
      });
      for (let i = 0; i < 2; i++) {
        assert.equal(await text('/text'), 'plain');
        assert.equal(await text('/end'), 'raw');
        assert.match((await fetch('/cookie')).headers.get('set-cookie')!, /^a=b/);
        assert.equal(await text('/missing'), '{"missing":1}');
        assert.equal(await text('/next'), 'next');
      }
      assert.deepEqual([cache.stats.hits, cache.stats.stores], [0, 0]);
    });

    it('gives one failure to all who wait, and with `stale` the old response in its place', async (t) => {
      const clock = clockOf(t);
      const cache = makeCache();
      let runs = 0;
      let fails = true;
      let arrived = 0;
      const { fetch, text } = await start(t, (app) => {
        app.use((_request, _response, next) => {
          arrived += 1;
          next();
        });
        app.get('/', cached(cache, { ...policy, ttl: 10, stale: 60_000 }, options), async () => {
          runs += 1;
          await until('five requests', () => arrived === 5);
          // Those that have arrived are waiting by then.
          await nextTurn();
          throw new Error(`run ${runs}`);
        });
        app.get(
          '/stale',
          cached(cache, { ...policy, ttl: 10, stale: 60_000 }, options),
          async (_request, response) => {
            if (fails) throw new Error('down');
            response.json({ good: true });
          },
        );
        app.use(((error, _request, response, _next) => {
          response.status(500).json({ error: (error as Error).message });
        }) as express.ErrorRequestHandler);
      });
      const all = await Promise.all(Array.from({ length: 5 }, () => fetch('/')));
      assert.ok(all.every(({ status }) => status === 500));
      const bodies = new Set(await Promise.all(all.map((each) => each.text())));
      assert.deepEqual(bodies, new Set(['{"error":"run 1"}', '{"error":"run 2"}']));
      assert.equal(runs, 2);
      fails = false;
      await text('/stale');
      fails = true;
      clock.advance(20);
      const stale = await fetch('/stale');
      assert.deepEqual([stale.status, await stale.text()], [200, '{"good":true}']);
    });

    it('goes on where a client leaves before there is a response', async (t) => {
      const cache = makeCache();
      let runs = 0;
      let arrived = 0;
      const { fetch, text } = await start(t, (app) => {
        app.use((_request, _response, next) => {
          arrived += 1;
          next();
        });
        app.get('/', cached(cache, policy, options), async (_request, response) => {
          runs += 1;
          if (runs === 1) await once(response, 'close');
          response.json({ run: runs });
        });
      });
      const gone = new AbortController();
      const left = fetch('/', { signal: gone.signal });
      await until('the first run', () => runs === 1);
      const waiting = text('/');
      await until('who waits', () => arrived === 2);
      gone.abort();
      await assert.rejects(left);
      assert.equal(await waiting, '{"run":2}');
    });

    it('forgets what was invalidated', async (t) => {
      const cache = makeCache();
      let price = 1;
      const { text } = await start(t, (app) => {
        const tags = ({ params }: { params: any }): string[] => [`product:${params.id}`];
        app.get(
          '/products/:id',
          cached(cache, { ...policy, tags }, options),
          (_request, response) => {
            response.json({ price });
          },
        );
      });
      for (let i = 0; i < 3; i++) {
        for (let j = 0; j < 4; j++) assert.equal(await text('/products/7'), `{"price":${price}}`);
        price += 1;
        await cache.invalidate('product:7');
      }
    });
  });
}

describe('cached() of Express', () => {
  it('says where hits are answered, with the first request of a route', async (t) => {
    const lines: string[] = [];
    const reported: string[] = [];
    const cache = makeCache(lines);
    const { text } = await start(t, (app) => {
      const answer: express.RequestHandler = (_request, response) => void response.json({});
      app.get('/default', cached(cache), answer);
      app.get('/hook', cached(cache, { at: 'hook' }), answer);
      app.get('/engine/:id', cached(cache, { at: 'engine' }), answer);
      const onPlace: ExpressCacheOptions['onPlace'] = ({ line }) => reported.push(line);
      app.get('/told', cached(cache, { at: 'hook' }, { onPlace }), answer);
    });
    for (const path of ['/default', '/hook', '/engine/1', '/engine/2', '/told']) await text(path);
    assert.deepEqual(lines, [
      'Hits of GET /hook are answered by the hook.',
      'Hits of GET /engine/:id are answered by the hook, not by the engine: the server is that of node:http, not that of @redline/http.',
    ]);
    assert.deepEqual(reported, ['Hits of GET /told are answered by the hook.']);
  });

  it('leaves out responses of which a middleware replaces json()', async (t) => {
    const lines: string[] = [];
    const cache = makeCache(lines);
    let runs = 0;
    const { text } = await start(t, (app) => {
      app.use((_request, response, next) => {
        const { json } = response;
        response.json = (value) => json.call(response, { data: value });
        next();
      });
      app.get('/', cached(cache), (_request, response) => {
        response.json({ run: (runs += 1) });
      });
    });
    assert.deepEqual(
      [await text('/'), await text('/')],
      ['{"data":{"run":1}}', '{"data":{"run":2}}'],
    );
    assert.equal(lines.length, 1);
  });

  it('refuses options that it does not know', () => {
    const cache = new JsonCache();
    assert.throws(() => cached(cache, { tttl: 1 } as never), /Unknown option "tttl" of cached\(\)/);
    assert.throws(() => cached(cache, {}, { nonsense: 1 } as never), /Unknown option "nonsense"/);
  });
});

describe('A cached route of Express whose caller a middleware finds out', () => {
  for (const [where, isBefore] of [
    ['in front of the cache', true],
    ['behind it', false],
  ] as const)
    it(`shares nothing where that stands ${where}`, async (t) => {
      const lines: string[] = [];
      const cache = makeCache(lines);
      const name: express.RequestHandler = (request, _response, next) => {
        const device = request.headers['x-device'];
        if (device !== undefined) Object.assign(request, { session: { cookie: {}, of: device } });
        next();
      };
      let runs = 0;
      const { text } = await start(t, (app) => {
        const keep = cached(cache);
        app.get('/', isBefore ? name : keep, isBefore ? keep : name, (_request, response) => {
          response.json({ run: (runs += 1) });
        });
      });
      const known = { headers: { 'x-device': 'ann' } };
      const last = isBefore ? '{"run":4}' : '{"run":3}';
      const ahead =
        'A response of GET / goes out uncached: it reads the request header x-device ahead of it, which is part of the key from now on.';
      assert.equal(await text('/', known), '{"run":1}');
      assert.equal(await text('/', known), '{"run":2}');
      // With it, the header that the middleware reads becomes known, which is part of the key from then on.
      if (isBefore) assert.equal(await text('/'), '{"run":3}');
      assert.equal(await text('/'), last);
      assert.equal(await text('/'), last);
      assert.equal(cache.stats.stores, 1);
      const said =
        'A response of GET / goes out uncached: its request names a caller, and the route has no identify.';
      assert.deepEqual(
        lines.map((line) => line.replace(/\S+ reads the/, 'it reads the')),
        isBefore ? [ahead] : [said],
      );
    });
});
