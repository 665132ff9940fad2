/* oxlint-disable oxc/no-async-endpoint-handlers -- Express 5 handles their rejections. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { fastifyCompress } from '@fastify/compress';
import compression from 'compression';
import express, { type Express } from 'express';
import { fastify, type FastifyInstance } from 'fastify';
import { cached } from '../src/adapters/express.ts';
import { fastifyCache } from '../src/adapters/fastify.ts';
import { chooseEncoding, type Encoding } from '../src/encoding/accept-encoding.ts';
import { JsonCache, memoryStore, type CachePolicy, type RouteDefaults } from '../src/index.ts';
import { ask, askFor, type Sent } from './ask.ts';
import { until } from '@redline/services/until';

const codings: readonly Encoding[] = ['br', 'zstd', 'gzip'];
const value = { items: Array.from({ length: 100 }, (_, id) => ({ id, name: `naïve desk ${id}` })) };
const json = JSON.stringify(value);

/** What a handler sends beside `value`, or in its place. */
interface Reply {
  readonly value?: unknown;
  readonly headers?: Record<string, string>;
}

interface Served {
  readonly port: number;
  readonly cache: JsonCache;
  runs(): number;
}

interface Setting {
  readonly policy?: CachePolicy<any>;
  readonly defaults?: RouteDefaults;
  readonly reply?: Reply;
  readonly plugin?: boolean;
}

type Serve = (t: TestContext, setting?: Setting) => Promise<Served>;

async function serveFastify(
  t: TestContext,
  at: 'handler' | 'hook',
  { policy = {}, defaults = {}, reply = {}, plugin = false }: Setting,
): Promise<Served> {
  const app: FastifyInstance = fastify();
  t.after(() => app.close());
  const cache = new JsonCache({ store: memoryStore(), logger: false });
  let runs = 0;
  if (plugin) await app.register(fastifyCompress, { threshold: 0 });
  await app.register(fastifyCache, { cache, ...defaults });
  app.get(
    '/',
    { config: { cache: { at, ttl: 60_000, ...policy } } },
    async (_request, response) => {
      runs += 1;
      response.headers(reply.headers ?? {});
      return reply.value ?? value;
    },
  );
  await app.listen({ port: 0, host: '127.0.0.1' });
  return { port: (app.server.address() as AddressInfo).port, cache, runs: () => runs };
}

async function serveExpress(
  t: TestContext,
  { policy = {}, defaults = {}, reply = {}, plugin = false }: Setting,
): Promise<Served> {
  const app: Express = express();
  const cache = new JsonCache({ store: memoryStore(), logger: false });
  let runs = 0;
  if (plugin) app.use(compression({ threshold: 0 }));
  app.get('/', cached(cache, { ttl: 60_000, ...policy }, defaults), (_request, response) => {
    runs += 1;
    response.set(reply.headers ?? {}).json(reply.value ?? value);
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, cache, runs: () => runs };
}

const entrances: Record<string, Serve> = {
  'fastifyCache, in the handler': (t, setting = {}) => serveFastify(t, 'handler', setting),
  'fastifyCache, in the hook': (t, setting = {}) => serveFastify(t, 'hook', setting),
  'cached() of Express': (t, setting = {}) => serveExpress(t, setting),
};

/** The headers that are the same in each response of one kind. */
function lasting({ status, headers }: Sent): unknown {
  const { date: _, connection: _1, 'keep-alive': _2, ...others } = headers;
  return [status, others];
}

for (const [name, serve] of Object.entries(entrances)) {
  describe(`compress, by ${name}`, () => {
    it('sends each coding to who accepts it, once it is made, and identity before and to all others', async (t) => {
      const { port, runs } = await serve(t, { policy: { compress: true } });
      const miss = await ask(port, '/', { 'accept-encoding': 'br' });
      assert.deepEqual(
        [miss.coding, miss.text, miss.headers.vary],
        [undefined, json, 'accept-encoding'],
      );
      for (const coding of codings) {
        const sent = await askFor(coding, port, '/');
        assert.equal(sent.text, json);
        assert.equal(sent.headers['content-type'], miss.headers['content-type']);
        assert.equal(sent.headers['content-length'], String(sent.bytes.length));
        assert.equal(sent.headers.vary, 'accept-encoding');
        assert.ok(sent.bytes.length < json.length / 2);
      }
      for (const accept of [
        '',
        'deflate',
        'br;q=0',
        'identity;q=0',
        '*;q=0',
        'identity, br;q=0.5',
      ]) {
        const plain = await ask(port, '/', { 'accept-encoding': accept });
        assert.deepEqual([plain.status, plain.coding, plain.text], [200, undefined, json], accept);
        assert.equal(plain.headers.vary, 'accept-encoding');
      }
      assert.equal(
        (await ask(port, '/', { 'accept-encoding': 'gzip, deflate, br, zstd' })).coding,
        'br',
      );
      assert.equal(
        (await ask(port, '/', { 'accept-encoding': 'br;q=0.1, gzip;q=0.9' })).coding,
        'gzip',
      );
      assert.equal(runs(), 1);
    });

    it('sends to HEAD the headers of GET', async (t) => {
      const { port } = await serve(t, { policy: { compress: true } });
      for (const coding of codings) {
        const get = await askFor(coding, port, '/');
        const head = await ask(port, '/', { 'accept-encoding': coding }, 'HEAD');
        assert.deepEqual(lasting(head), lasting(get));
        assert.equal(head.bytes.length, 0);
      }
    });

    it('sends the whole text to who asks for a part', async (t) => {
      const { port } = await serve(t, { policy: { compress: true } });
      await askFor('br', port, '/');
      const part = await ask(port, '/', { 'accept-encoding': 'br', range: 'bytes=0-9' });
      assert.deepEqual([part.status, part.coding, part.text], [200, undefined, json]);
    });

    it('gives each variant a tag of its own, by which it is revalidated', async (t) => {
      for (const setting of [
        { defaults: { headers: ['etag'] } },
        { reply: { headers: { etag: '"v1"' } }, defaults: { headers: ['etag'] } },
      ] satisfies Setting[]) {
        const { port } = await serve(t, { policy: { compress: true }, ...setting });
        const tags = new Map<string, string>();
        for (const coding of ['identity', ...codings]) {
          const sent =
            coding === 'identity' ? await ask(port, '/') : await askFor(coding, port, '/');
          tags.set(coding, sent.headers.etag!);
        }
        assert.equal(new Set(tags.values()).size, 4, [...tags.values()].join(' '));
        for (const [coding, tag] of tags) {
          for (const [other, otherTag] of tags) {
            const headers = { 'accept-encoding': coding, 'if-none-match': otherTag };
            const sent = await ask(port, '/', headers);
            assert.equal(sent.status, coding === other ? 304 : 200, `${coding}, ${otherTag}`);
            assert.equal(sent.headers.etag, tag);
            assert.equal(sent.headers.vary, 'accept-encoding');
          }
        }
      }
    });

    it('types a variant as the framework types the text', async (t) => {
      for (const type of ['application/vnd.items+json', 'application/json']) {
        const reply = { headers: { 'content-type': type } };
        const { port } = await serve(t, { policy: { compress: true }, reply });
        const plain = await ask(port, '/');
        const { headers } = await askFor('br', port, '/');
        assert.equal(headers['content-type'], plain.headers['content-type']);
      }
    });

    it('leaves a weak tag as it is', async (t) => {
      const reply = { headers: { etag: 'W/"v1"' } };
      const { port } = await serve(t, { policy: { compress: true }, reply });
      assert.equal((await askFor('br', port, '/')).headers.etag, 'W/"v1"');
    });

    it('compresses nothing that is short, encoded, not to be transformed, or of another kind', async (t) => {
      const settings: Record<string, Setting> = {
        off: {},
        'off for the route': { policy: { compress: false }, defaults: { compress: true } },
        short: { policy: { compress: true }, reply: { value: { text: 'a'.repeat(900) } } },
        'short by minBytes': { policy: { compress: { minBytes: 100_000 } } },
        'no-transform': {
          policy: { compress: true },
          reply: { headers: { 'cache-control': 'public, no-transform' } },
        },
        'a digest': {
          policy: { compress: true },
          reply: { headers: { 'repr-digest': 'sha-256=:AAAA:' } },
        },
        ranges: { policy: { compress: true }, reply: { headers: { 'accept-ranges': 'bytes' } } },
        'another type': {
          policy: { compress: true },
          reply: { headers: { 'content-type': 'image/json-of-pixels' } },
        },
        'another coding': { policy: { compress: { encodings: ['zstd'] } } },
      };
      for (const [what, setting] of Object.entries(settings)) {
        const { port, runs } = await serve(t, setting);
        for (let i = 0; i < 4; i++) {
          const { coding, text } = await ask(port, '/', { 'accept-encoding': 'br' });
          assert.equal(coding, undefined, what);
          assert.ok(text.length > 100, what);
          await new Promise(setImmediate);
        }
        assert.equal(runs(), 1, what);
      }
    });

    it('is for all routes, and its levels and minBytes count', async (t) => {
      const defaults = {
        compress: { encodings: ['gzip'], levels: { gzip: 1 }, minBytes: 1 },
      } as const;
      const weak = await serve(t, { defaults });
      const strong = await serve(t, { policy: { compress: { levels: { gzip: 9 } } }, defaults });
      const { bytes } = await askFor('gzip', weak.port, '/');
      assert.notEqual((await askFor('gzip', strong.port, '/')).bytes.length, bytes.length);
      assert.equal((await ask(weak.port, '/', { 'accept-encoding': 'br, gzip' })).coding, 'gzip');
    });

    it('makes variants of the new response when that has taken the place of the old', async (t) => {
      const reply = { value: { run: 1, text: 'a'.repeat(2_000) } };
      const { port, cache } = await serve(t, { policy: { compress: true, tags: ['all'] }, reply });
      assert.match((await askFor('br', port, '/')).text, /"run":1/);
      reply.value = { run: 2, text: 'a'.repeat(2_000) };
      await cache.invalidate('all');
      for (let i = 0; i < 3; i++)
        assert.match((await ask(port, '/', { 'accept-encoding': 'br' })).text, /"run":2/);
      assert.match((await askFor('br', port, '/')).text, /"run":2/);
    });

    it('is not compressed again by the middleware or the plugin for that', async (t) => {
      const { port } = await serve(t, { policy: { compress: true }, plugin: true });
      const miss = await ask(port, '/', { 'accept-encoding': 'gzip' });
      assert.deepEqual([miss.coding, miss.text], ['gzip', json]);
      for (const coding of codings) {
        // Those of the others are streams.
        await until(`for the ${coding} of the cache`, async () => {
          const sent = await ask(port, '/', { 'accept-encoding': coding });
          assert.equal(sent.text, json);
          assert.equal(sent.headers.vary?.toLowerCase(), 'accept-encoding');
          return sent.coding === coding && sent.headers['content-length'] !== undefined;
        });
      }
    });
  });
}

describe('The choice of a coding', () => {
  it('is the greatest weight, and of several the first', () => {
    const rows: [string, Encoding | undefined][] = [
      ['gzip, deflate, br, zstd', 'br'],
      ['gzip, zstd', 'zstd'],
      ['br;q=0.5, X-GZip;q=0.8', 'gzip'],
      ['br;q=0.1, br;q=0.9, gzip;q=0.5', 'br'],
      ['br;level=1;Q=0.2\t, gzip ; q=0.3', 'gzip'],
      ['*', 'br'],
      ['br;q=0, *;q=0.1', 'zstd'],
      ['identity;q=0, gzip;q=0.1', 'gzip'],
      ['*;q=0.5, br;q=0.4, zstd;q=0, gzip;q=0', undefined],
      ['identity;q=0.5, gzip;q=0.4', undefined],
      ['br;q=1.001', undefined],
      ['br;q=', undefined],
      ['br;q=0 .5', undefined],
      [', ;,', undefined],
    ];
    for (const [header, chosen] of rows)
      assert.equal(chooseEncoding(header, codings), chosen, header);
    assert.equal(chooseEncoding('br, gzip', ['gzip', 'br']), 'gzip');
  });
});

describe('The option compress', () => {
  it('is refused where it cannot be', () => {
    const cache = new JsonCache({ logger: false });
    const wrong = [
      'br',
      1,
      [],
      { encoding: ['br'] },
      { encodings: 'br' },
      { encodings: [] },
      { encodings: ['deflate'] },
      { minBytes: -1 },
      { levels: 5 },
      { levels: { br: 12 } },
      { levels: { deflate: 1 } },
    ];
    for (const compress of wrong as never[]) {
      const code = 'ERR_REDLINE_CACHE_OPTION';
      assert.throws(() => cached(cache, { compress }), { code }, JSON.stringify(compress));
      assert.throws(() => cached(cache, {}, { compress }), { code }, JSON.stringify(compress));
    }
  });
});
