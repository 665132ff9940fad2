// The engine sends stored responses of Fastify and Express byte for byte as they were.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { responseStoreOf, createServer, engine, serverFactory } from '../src/index.ts';
import { talk } from './conformance/wire.ts';

const skip = engine().name === 'native' ? false : 'the addon is not built';
const require = createRequire(import.meta.url);
const Fastify = require('fastify') as (options: object) => FastifyInstance;
const express = require('express') as () => ExpressApp;

interface ExpressResponse {
  json(value: unknown): void;
}
type ExpressApp = RequestListener & {
  get(path: string, handler: (request: unknown, response: ExpressResponse) => void): void;
};

const freshMs = 60_000;
const value = { hello: 'wörld', list: Array.from({ length: 100 }, (_, index) => index) };

describe('a hit is as the response of a framework was:', { skip, timeout: 600_000 }, () => {
  test('Fastify', async (t) => {
    const app = Fastify({ serverFactory });
    t.after(() => app.close());
    let requests = 0;
    app.addHook('onSend', (request, reply, payload, done) => {
      requests += 1;
      const body = payload as string;
      const headers: [string, string][] = Object.entries(reply.getHeaders()).map(
        ([name, of]) => [name, `${of as string}`] as const as [string, string],
      );
      // Fastify adds it behind this hook; a HEAD route has it already.
      if (!reply.hasHeader('content-length')) {
        headers.push(['content-length', `${Buffer.byteLength(body)}`]);
      }
      const store = responseStoreOf(app.server)!;
      const asked = { method: request.method, url: request.originalUrl, headers: request.headers };
      const response = { status: reply.statusCode, headers, body, freshMs };
      store.offer(asked, response, store.ticket());
      done(null, payload);
    });
    app.get('/', (_, reply) => {
      reply.header('X-Thing', 'a').header('cache-control', 'public, max-age=1');
      return value;
    });
    await app.listen({ port: 0, host: '127.0.0.1' });
    await compare(app.server, () => requests);
  });

  test('Express, with its ETag', async (t) => {
    const app = express();
    app.get('/', (_, response) => response.json(value));
    let requests = 0;
    const server = createServer((request, response) => {
      requests += 1;
      const { method, url, headers } = request;
      // Node's types lack it.
      const named = response as typeof response & { getRawHeaderNames(): string[] };
      const { end } = response;
      response.end = ((body?: string) => {
        const sent = named
          .getRawHeaderNames()
          .map((name): [string, string] => [name, `${response.getHeader(name) as string}`]);
        const store = responseStoreOf(server)!;
        const offered = { status: response.statusCode, headers: sent, body: body ?? '', freshMs };
        store.offer({ method, url, headers } as never, offered, store.ticket());
        return end.call(response, body, 'utf8');
      }) as never;
      app(request, response);
    });
    t.after(() => server.close());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    await compare(server, () => requests);
  });
});

async function compare(server: Server, count: () => number): Promise<void> {
  const { port } = server.address() as AddressInfo;
  const ask = async (method: string, lines = ''): Promise<string> => {
    const text = `${method} / HTTP/1.1\r\nHost: a\r\n${lines}Connection: close\r\n\r\n`;
    return (await talk(port, text)).received;
  };
  const all = async (): Promise<string[]> => {
    const got = await ask('GET');
    const etag = /etag: (.*)\r/i.exec(got)?.[1];
    const condition = etag === undefined ? '' : `If-None-Match: ${etag}\r\n`;
    return [got, await ask('HEAD'), await ask('GET', condition)];
  };
  const made = await all();
  // The second appearance.
  await ask('GET');
  const before = count();
  const { hits } = responseStoreOf(server)!.stats();
  assert.deepEqual(await all(), made);
  assert.equal(count(), before);
  assert.equal(responseStoreOf(server)!.stats().hits, hits + 3);
}
