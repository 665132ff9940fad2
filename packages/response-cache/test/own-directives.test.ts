import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import express from 'express';
import { fastify } from 'fastify';
import { cached } from '../src/adapters/express.ts';
import { fastifyCache } from '../src/adapters/fastify.ts';
import { JsonCache } from '../src/index.ts';

type Headers = Readonly<Record<string, string>>;
type At = 'handler' | 'hook';

/** Serves `{"run":n}` with `headers` from a cached route, and gives its URL. */
const frameworks: Record<string, (t: TestContext, at: At, headers: Headers) => Promise<string>> = {
  async Fastify(t, at, headers) {
    const app = fastify();
    const cache = new JsonCache({ logger: false });
    await app.register(fastifyCache, { cache, hosts: 'any' });
    let run = 0;
    app.get('/', { config: { cache: { at } } }, async (_request, reply) => {
      reply.headers(headers);
      return { run: (run += 1) };
    });
    t.after(() => app.close());
    return app.listen({ port: 0, host: '127.0.0.1' });
  },
  async Express(t, at, headers) {
    const app = express();
    const cache = new JsonCache({ logger: false });
    let run = 0;
    app.get('/', cached(cache, { at }), (_request, response) => {
      response.set(headers).json({ run: (run += 1) });
    });
    const server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  },
};

const past = 'Thu, 01 Jan 1970 00:00:00 GMT';
const notKept: Headers[] = [
  { 'Surrogate-Control': 'no-store' },
  { 'Surrogate-Control': 'content="ESI/1.0", no-store' },
  { 'Surrogate-Control': 'max-age=0' },
  { 'Surrogate-Control': 'no-store', 'Cache-Control': 'public, max-age=60' },
  { 'CDN-Cache-Control': 'no-store' },
  { 'CDN-Cache-Control': 'private', 'Cache-Control': 'max-age=60' },
  { 'Cache-Control': 'no-cache' },
  { 'Cache-Control': 'no-cache="set-cookie"' },
  { 'Cache-Control': 's-maxage=0' },
  { Expires: past },
  { Expires: '0' },
  { Expires: past, 'Cache-Control': 'public' },
  { Expires: '0', 'Cache-Control': 'must-revalidate' },
  { 'CDN-Cache-Control': 'max-age=60', 'Surrogate-Control': 'no-store' },
  { Expires: 'Thu, 18 Aug 2150 02:01:18 GMT', Date: 'Thu, 18 Aug 2150 02:01:19 GMT' },
  // A lifetime that is not a number of seconds, or not a date of HTTP, has ended.
  ...['-1', 'a100', '100a', '1.5', "'100'", ''].map((value) => ({
    'Cache-Control': `public, max-age=${value}`,
  })),
  { 'Cache-Control': 'max-age=60, max-age=0' },
  { 'Cache-Control': 'max-age=60, s-maxage=-1' },
  ...[
    'Thu, 18 Aug 2150 02:01:18 UTC',
    'Thu 18 Aug 2150 02:01:18 GMT',
    'Thu, 18  Aug  2150  02:01:18 GMT',
    'Thu, 18-Aug-2150 02:01:18 GMT',
    'Thu, 18 Aug 2150 2:01:18 GMT',
    '2150-08-18T02:01:18Z',
  ].map((Expires) => ({ Expires })),
];
const kept: Headers[] = [
  { 'Retry-After': '120' },
  { 'Retry-After': 'Fri, 31 Dec 2100 23:59:59 GMT' },
  { 'Surrogate-Control': 'max-age=60' },
  { 'Surrogate-Control': 'max-age=60+30' },
  { 'Cache-Control': 'max-age="060", public' },
  { Expires: 'Thu, 18 Aug 2150 02:01:18 GMT' },
  { Expires: 'tue aug 18 02:01:18 2150' },
  { 'CDN-Cache-Control': 'max-age=60' },
  { 'Cache-Control': 'max-age=0, s-maxage=60' },
  { Expires: past, 'Cache-Control': 'max-age=60' },
  { Expires: past, 'Cache-Control': 's-maxage=60' },
  { Expires: past, 'CDN-Cache-Control': 'max-age=60' },
];

for (const [name, serve] of Object.entries(frameworks))
  for (const at of ['handler', 'hook'] as const)
    describe(`A cached route of ${name}, at: '${at}'`, () => {
      for (const headers of notKept)
        it(`does not keep a response with ${JSON.stringify(headers)}`, async (t) => {
          const url = await serve(t, at, headers);
          for (const run of [1, 2]) assert.equal(await (await fetch(url)).text(), `{"run":${run}}`);
        });

      for (const headers of kept)
        it(`sends ${JSON.stringify(headers)} with each hit`, async (t) => {
          const url = await serve(t, at, headers);
          for (let i = 0; i < 3; i++) {
            const response = await fetch(url);
            assert.equal(await response.text(), '{"run":1}');
            for (const [header, value] of Object.entries(headers))
              assert.equal(response.headers.get(header), value);
          }
        });
    });
