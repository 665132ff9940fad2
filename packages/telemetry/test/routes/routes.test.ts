import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { RouteTable } from '../../src/routes/route-table.ts';
import { Routes } from '../../src/routes/routes.ts';

const require = createRequire(import.meta.url);
const table = new RouteTable();
// Frameworks are loaded after it.
const routes = new Routes(table);

/** Returns the route of each request when its response ends. */
async function routesOf(app: RequestListener, ...requests: string[]): Promise<unknown[]> {
  const found: unknown[] = [];
  const server = createServer((request, response) => {
    const { end } = response;
    response.end = (...given: unknown[]) => {
      found.push(table.patternOf(routes.numberOf(request)));
      return Reflect.apply(end, response, given);
    };
    app(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (const request of requests) {
    const [method, path] = request.split(' ');
    await (await fetch(`http://127.0.0.1:${port}${path}`, { method: method! })).text();
  }
  server.close();
  return found;
}

type Handler = (request: any, response: any, next: (error?: unknown) => void) => unknown;
type Router = RequestListener & Record<'get' | 'post' | 'use' | 'all', (...given: any[]) => Router>;
type Express = (() => Router) & { Router(options?: object): Router };

const ok: Handler = (_, response) => response.send('ok');

for (const [name, wildcard] of [
  ['express-4', '/files/*'],
  ['express', '/files/*path'],
] as const) {
  describe(name, () => {
    const express = require(name) as Express;

    test('routes of the app', async () => {
      const app = express();
      app.get('/', ok);
      app.get('/users/:id', ok);
      app.get(['/a', '/b'], ok);
      app.get(/^\/v(\d+)$/, ok);
      app.get(wildcard, ok);
      const requests = ['/', '/users/1', '/users/2?x=1', '/b', '/v2', '/files/a/b', '/none'];
      assert.deepEqual(await routesOf(app, ...requests.map((path) => `GET ${path}`)), [
        '/',
        '/users/:id',
        '/users/:id',
        '/a,/b',
        String(/^\/v(\d+)$/),
        wildcard,
        undefined,
      ]);
    });

    test('routers mounted below a path with a parameter, and below each other', async () => {
      const app = express();
      const api = express.Router();
      const items = express.Router({ mergeParams: true });
      app.use('/api/:version', api);
      api.use('/shops/:shop/items', items);
      items.get('/', ok);
      items.post('/:item', ok);
      assert.deepEqual(
        await routesOf(app, 'GET /api/v1/shops/7/items', 'POST /api/v2/shops/8/items/9'),
        ['/api/:version/shops/:shop/items', '/api/:version/shops/:shop/items/:item'],
      );
    });

    test('one router in two places', async () => {
      const app = express();
      const router = express.Router();
      router.get('/:id', ok);
      app.use('/cats', router);
      app.use('/zoos/:zoo/cats', router);
      assert.deepEqual(await routesOf(app, 'GET /cats/1', 'GET /zoos/5/cats/2', 'GET /cats/3'), [
        '/cats/:id',
        '/zoos/:zoo/cats/:id',
        '/cats/:id',
      ]);
    });

    test('an app mounted on another', async () => {
      const app = express();
      const admin = express();
      app.use('/admin', admin);
      admin.get('/users/:id', ok);
      assert.deepEqual(await routesOf(app, 'GET /admin/users/3'), ['/admin/users/:id']);
    });

    test('a handler that fails, and one that a middleware precedes', async () => {
      const app = express();
      const router = express.Router();
      app.use((_: unknown, __: unknown, next: () => void) => next());
      app.use('/api', router);
      router.get('/broken/:id', () => {
        throw new Error('broken');
      });
      app.use(((_error: unknown, _request: unknown, response: any, _next: unknown) =>
        response.status(500).end()) as never);
      assert.deepEqual(await routesOf(app, 'GET /api/broken/1'), ['/api/broken/:id']);
    });

    test('a handler that fails, in an app that handles no errors', async () => {
      const app = express();
      const router = express.Router();
      (app as unknown as { set(name: string, value: unknown): void }).set('env', 'test');
      app.use('/api', router);
      router.get('/broken/:id', () => {
        throw new Error('broken');
      });
      assert.deepEqual(await routesOf(app, 'GET /api/broken/1', 'GET /none'), [
        '/api/broken/:id',
        undefined,
      ]);
    });

    test('a middleware that responds has the path it is mounted at', async () => {
      const app = express();
      const router = express.Router();
      app.use('/admin/:area', ((_, response) => response.status(401).end()) as Handler);
      app.use('/api', router);
      router.use('/private', ((_, response) => response.status(401).end()) as Handler);
      app.use(((_, response) => response.status(404).end()) as Handler);
      assert.deepEqual(
        await routesOf(app, 'GET /admin/a/b', 'GET /api/private/x', 'GET /api/none'),
        ['/admin/:area', '/api/private', undefined],
      );
    });
  });
}

describe('fastify', () => {
  const Fastify = require('fastify') as typeof import('fastify').default;

  test('routes, also of a request that a hook refuses', async () => {
    const app = Fastify();
    app.addHook('onRequest', async (request, reply) => {
      if (request.headers['x-user'] === undefined && request.url.startsWith('/private')) {
        await reply.code(401).send();
      }
    });
    app.get('/', async () => 'ok');
    app.get('/private/:id', async () => 'ok');
    await app.register(
      async (api) => {
        api.get('/users/:id', async () => 'ok');
      },
      { prefix: '/api/:version' },
    );
    app.get('/files/*', async () => 'ok');
    await app.ready();
    const paths = ['/', '/private/1', '/api/v1/users/2', '/files/a/b', '/none'];
    assert.deepEqual(await routesOf(app.routing, ...paths.map((path) => `GET ${path}`)), [
      '/',
      '/private/:id',
      '/api/:version/users/:id',
      '/files/*',
      undefined,
    ]);
  });
});

describe('koa', () => {
  test('routes of @koa/router', async () => {
    const Koa = require('koa') as new () => { use(handler: unknown): void } & {
      callback(): RequestListener;
    };
    const required = require('@koa/router');
    const KoaRouter = (required.default ?? required) as new (options: object) => any;
    const app = new Koa();
    const router = new KoaRouter({ prefix: '/api' });
    router.get('/users/:id', (context: { body: unknown }) => {
      context.body = 'ok';
    });
    app.use(router.routes());
    assert.deepEqual(await routesOf(app.callback(), 'GET /api/users/1', 'GET /api/none'), [
      '/api/users/:id',
      undefined,
    ]);
  });
});

describe('the table', () => {
  test('numbers each pattern once, and writes it to all rings, also to later ones', () => {
    const written: unknown[] = [];
    const small = new RouteTable();
    small.addWriter((number, pattern) => written.push(['first', number, pattern]) > 0);
    assert.deepEqual([small.numberOf('/a'), small.numberOf('/b'), small.numberOf('/a')], [1, 2, 1]);
    small.addWriter((number, pattern) => written.push(['second', number, pattern]) > 0);
    assert.deepEqual(written, [
      ['first', 1, '/a'],
      ['first', 2, '/b'],
      ['second', 1, '/a'],
      ['second', 2, '/b'],
    ]);
  });

  test('a route has no number while a ring is full, nor after 2,000 of them', () => {
    const full = new RouteTable();
    let isFull = true;
    full.addWriter(() => !isFull);
    assert.equal(full.numberOf('/a'), 0);
    isFull = false;
    assert.equal(full.numberOf('/a'), 1);
    for (let route = 2; route <= 2_000; route++) assert.equal(full.numberOf(`/${route}`), route);
    assert.equal(full.numberOf('/one-more'), 0);
    assert.equal(full.numberOf('/a'), 1);
  });
});
