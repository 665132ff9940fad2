// Random requests to one cached route, by every way in: each gets the response that belongs to it.
import 'reflect-metadata';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { RequestListener, Server } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { Controller, Get, Module, Req } from '@nestjs/common';
import { responseStoreOf, createServer, serverFactory } from '@redline/http';
import { JsonCacheModule, JsonCache as Cached, RedlineFactory } from '@redline/nest';
import { JsonCache } from '@redline/response-cache';
import { cached } from '@redline/response-cache/express';
import { fastifyCache } from '@redline/response-cache/fastify';
import express from 'express';
import { fastify } from 'fastify';
import { skip } from './apps.ts';

interface Seen {
  readonly method: string;
  readonly originalUrl: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

const echoed = [
  'host',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-prefix',
  'x-forwarded-port',
  'forwarded',
  'x-who',
  'accept-language',
];

/** All that the response of the route depends on. */
function echo({ method, originalUrl, headers, body }: Seen): object {
  return { method, originalUrl, ...pick(headers), body: body ?? null };
}

function pick(headers: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(echoed.map((name) => [name, headers[name] ?? null]));
}

const policy = { identify: { header: 'x-who' }, vary: ['accept-language'], ttl: 60_000 } as const;
type At = 'handler' | 'engine';

/** Servers with the routes `/:a` and `/:a/:b`, both of which answer with {@link echo}. */
const entrances: Record<string, (t: TestContext) => Promise<Server>> = {
  'fastifyCache, in the handler': (t) => startFastify(t, 'handler'),
  'fastifyCache, by the engine': (t) => startFastify(t, 'engine'),
  'cached(), in the handler': (t) => startExpress(t, 'handler'),
  'cached(), by the engine': (t) => startExpress(t, 'engine'),
  'Nest on Fastify': (t) => startNest(t, 'fastify'),
  'Nest on Express': (t) => startNest(t, 'express'),
};

async function startFastify(t: TestContext, at: At): Promise<Server> {
  const app = fastify({ serverFactory });
  t.after(() => app.close());
  await app.register(fastifyCache, { cache: new JsonCache({ logger: false }) });
  for (const path of ['/:a', '/:a/:b'])
    app.get(path, { config: { cache: { ...policy, at } } }, (request) =>
      Promise.resolve(echo(request as unknown as Seen)),
    );
  await app.listen({ port: 0, host: '127.0.0.1' });
  return app.server;
}

async function startExpress(t: TestContext, at: At): Promise<Server> {
  const app = express();
  app.use(express.json());
  const cache = new JsonCache({ logger: false });
  for (const path of ['/:a', '/:a/:b'])
    app.get(path, cached(cache, { ...policy, at }), (request, response) => {
      response.json(echo(request as unknown as Seen));
    });
  const server = createServer(app as RequestListener);
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function startNest(t: TestContext, adapter: 'fastify' | 'express'): Promise<Server> {
  class Echo {
    one(request: Seen): object {
      return echo(request);
    }
    two(request: Seen): object {
      return echo(request);
    }
  }
  for (const [name, path] of [
    ['one', ':a'],
    ['two', ':a/:b'],
  ] as const) {
    const method = Object.getOwnPropertyDescriptor(Echo.prototype, name)!;
    Req()(Echo.prototype, name, 0);
    Get(path)(Echo.prototype, name, method);
    Cached(policy)(Echo.prototype, name, method);
  }
  Controller()(Echo);
  const App = function App(): void {} as unknown as new () => object;
  Module({ imports: [JsonCacheModule.forRoot({ logger: false })], controllers: [Echo] })(App);
  const app = await RedlineFactory.create(App, { adapter, logger: false });
  t.after(() => app.close());
  await app.listen(0, '127.0.0.1');
  return app.getHttpServer() as Server;
}

interface Sent {
  readonly method: 'GET' | 'HEAD';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/* The same in each run. */
function requests(count: number): Sent[] {
  let state = 11;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const pickOf = <T>(of: readonly T[]): T => of[random(of.length)]!;
  return Array.from({ length: count }, () => {
    const optional = {
      'x-forwarded-host': pickOf(['', '', 'shop.example', 'b', 'shop.example/a']),
      'x-forwarded-proto': pickOf(['', '', 'http', 'https']),
      'x-forwarded-prefix': pickOf(['', '', '/a', '/b']),
      'x-forwarded-port': pickOf(['', '', '443', '8443']),
      forwarded: pickOf(['', '', 'host=b', 'for=192.0.2.1']),
      'accept-language': pickOf(['', 'de', 'en']),
    };
    return {
      method: random(8) === 0 ? 'HEAD' : 'GET',
      url: pickOf(['/a', '/b', '/a/b', '/b/a', '/a?b', '/a/b?b', '/1:a']),
      headers: {
        host: pickOf(['shop.example', 'shop.example', 'a,b', 'a', 'a:1', 'a:80']),
        'x-who': pickOf(['1', '1:1', 'a']),
        ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== '')),
      },
      body: random(6) === 0 ? JSON.stringify({ wanted: random(3) }) : '',
    };
  });
}

function send(port: number, { method, url, headers, body }: Sent): Promise<string> {
  return new Promise((resolve, reject) => {
    const ofBody =
      body === '' ? {} : { 'content-type': 'application/json', 'content-length': `${body.length}` };
    const lines = Object.entries({ ...headers, ...ofBody, connection: 'close' });
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (piece: string) => (text += piece));
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
    socket.write(`${method} ${url} HTTP/1.1\r\n${head}\r\n${body}`);
  });
}

function bodyOf(response: string): string {
  return response.slice(response.indexOf('\r\n\r\n') + 4);
}

describe('A request for a cached route', { skip, timeout: 300_000 }, () => {
  for (const [name, start] of Object.entries(entrances)) {
    it(`gets its own response, whatever came before it: ${name}`, async (t) => {
      const server = await start(t);
      const { port } = server.address() as AddressInfo;
      let asked = 0;
      for (const each of requests(300)) {
        const { method, url, headers, body } = each;
        // The engine has what the hook has found, and the hook what the handler has made.
        for (let times = 0; times < 2 && name.includes('engine'); times++) await send(port, each);
        const response = await send(port, each);
        assert.match(response, /^HTTP\/1\.1 200 /, response);
        if (method === 'HEAD') continue;
        const seen = JSON.parse(bodyOf(response)) as Record<string, unknown>;
        // One that says what the request says without it, or names the client, belongs to no other response.
        const repeats = (key: string): boolean => {
          const isHttps = headers['x-forwarded-proto'] === 'https';
          if (key === 'x-forwarded-host') return headers[key] === headers['host'];
          if (key === 'x-forwarded-proto') return headers[key] === 'http';
          if (key === 'x-forwarded-port')
            return headers[key] === '443' && isHttps && !headers['host']!.includes(':');
          return key === 'forwarded' && headers[key] === 'for=192.0.2.1';
        };
        const expected = { method, originalUrl: url, ...pick(headers) } as Record<string, unknown>;
        for (const key of Object.keys(expected)) {
          if (expected[key] === null || repeats(key)) {
            const others = { 'x-forwarded-proto': 'http', 'x-forwarded-host': headers['host'] };
            const other = (others as Record<string, unknown>)[key];
            if (seen[key] === null || seen[key] === other || seen[key] === 'for=192.0.2.1')
              continue;
            if (key === 'x-forwarded-port' && seen[key] === '443') continue;
          }
          assert.equal(seen[key], expected[key], `${key}: ${JSON.stringify(each)}`);
        }
        if (body !== '' && seen['body'] !== null) assert.equal(JSON.stringify(seen['body']), body);
        if (body === '') assert.equal(JSON.stringify(seen['body'] ?? {}), '{}');
        asked += 1;
      }
      assert.ok(asked > 200);
      if (name.includes('engine')) assert.ok(responseStoreOf(server)!.stats().hits > 0);
    });
  }

  for (const [name, start] of Object.entries(entrances)) {
    it(`does not reach another route by its Host: ${name}`, async (t) => {
      const server = await start(t);
      const { port } = server.address() as AddressInfo;
      const headers = { host: 'shop.example', 'x-who': '1' };
      for (let times = 0; times < 3; times++)
        await send(port, { method: 'GET', url: '/a/b', headers, body: '' });
      const forged = { ...headers, host: 'shop.example/a' };
      const response = await send(port, { method: 'GET', url: '/b', headers: forged, body: '' });
      // The engine may refuse it.
      if (response.startsWith('HTTP/1.1 200 '))
        assert.match(bodyOf(response), /"originalUrl":"\/b"/);
      else assert.match(response, /^HTTP\/1\.1 400 /);
    });
  }
});
