import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { channel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import express from 'express';
import { fastify } from 'fastify';
import { cached } from '../src/adapters/express.ts';
import { fastifyCache } from '../src/adapters/fastify.ts';
import { AheadReads, watchPeer } from '../src/route/reads/ahead.ts';
import { JsonCache, unobserved, type CachePolicy, type RouteDefaults } from '../src/index.ts';
import { until } from '@redline/services/until';

type Framework = 'express' | 'fastify';
type Pass = (request: any, next: () => void, response: any) => void;

interface App {
  ask(headers?: Record<string, string>, path?: string): Promise<{ value: unknown; isHit: boolean }>;
  readonly lines: string[];
  /** What `redline doctor` reads of the route. */
  reads(): readonly string[];
}

interface Setting {
  /** A middleware of the app, or a hook of it. */
  readonly ahead: Pass;
  readonly read: (request: any) => unknown;
  readonly policy?: CachePolicy<any>;
  readonly defaults?: RouteDefaults;
}

async function serve(t: TestContext, framework: Framework, setting: Setting): Promise<App> {
  const { ahead, read, policy = {}, defaults = {} } = setting;
  const lines: string[] = [];
  const push = (line: string): void => void lines.push(line);
  const cache = new JsonCache({ ttl: 600_000, logger: { log: push, warn: push } });
  let runs = 0;
  const make = (request: object): object => ({ value: read(request), run: (runs += 1) });
  let server: Server;
  const [first] = [listed().length];
  if (framework === 'express') {
    const app = express();
    app.use((request, response, next) => ahead(request, next, response));
    const use = cached(cache, policy, { hosts: 'any', ...defaults });
    app.get('/:name', use, (request, response) => void response.json(make(request)));
    server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => void server.close());
  } else {
    const app = fastify();
    t.after(() => app.close());
    app.addHook('onRequest', (request, reply, done) => ahead(request, done, reply));
    await app.register(fastifyCache, { cache, hosts: 'any', ...defaults });
    app.get('/:name', { config: { cache: policy } }, (request, reply) => reply.send(make(request)));
    await app.listen({ port: 0, host: '127.0.0.1' });
    server = app.server;
  }
  const { port } = server.address() as AddressInfo;
  return {
    lines,
    reads: () =>
      [
        ...new Set(
          listed()
            .slice(first)
            .flatMap((each) => [...each]),
        ),
      ].toSorted(),
    async ask(headers = {}, path = '/a') {
      const before = runs;
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        headers: { connection: 'close', ...headers },
      });
      const { value } = (await response.json()) as { value: unknown };
      return { value, isHit: runs === before };
    },
  };
}

function listed(): ReadonlySet<string>[] {
  const routes = (globalThis as Record<symbol, unknown>)[Symbol.for('redline.cachedRoutes')];
  return ((routes ?? []) as { reads: WeakRef<ReadonlySet<string>> }[]).map(
    ({ reads }) => reads.deref() ?? new Set(),
  );
}

const storage = new AsyncLocalStorage<unknown>();
const table = new WeakMap<object, unknown>();
const headersOf = (request: any): Record<string, string> => request.headers;

/** Ways from the middleware to the handler on which nothing stands that could be watched. */
const ways: Readonly<Record<string, (name: string) => Pick<Setting, 'ahead' | 'read'>>> = {
  'an AsyncLocalStorage': (name) => ({
    ahead: (request, next) => storage.run(headersOf(request)[name], next),
    read: () => storage.getStore(),
  }),
  'enterWith of one': (name) => ({
    ahead(request, next) {
      storage.enterWith({ of: headersOf(request)[name] });
      next();
    },
    read: () => (storage.getStore() as { of: unknown }).of,
  }),
  'a WeakMap': (name) => ({
    ahead(request, next) {
      table.set(request.raw ?? request, headersOf(request)[name]);
      next();
    },
    read: (request) => table.get(request.raw ?? request),
  }),
  'kept headers, read by the handler': (name) => ({
    ahead: (request, next) => storage.run({ kept: headersOf(request) }, next),
    read: () => (storage.getStore() as { kept: Record<string, string> }).kept[name],
  }),
  'a kept request': (name) => ({
    ahead: (request, next) => storage.run({ request }, next),
    read: () => headersOf((storage.getStore() as { request: unknown }).request)[name],
  }),
};

/** Properties of the request that `Object.keys` does not show, or that look like Node's own. */
const kOwn = Symbol('kOwn');
const properties: Readonly<Record<string, Pick<Setting, 'ahead' | 'read'>>> = {
  'a symbol': {
    ahead: (request, next) => ((request[kOwn] = headersOf(request)['user-agent']), next()),
    read: (request) => request[kOwn],
  },
  'a name with an underscore': {
    ahead: (request, next) => ((request._of = headersOf(request)['user-agent']), next()),
    read: (request) => request._of,
  },
  'one that is not enumerable': {
    ahead(request, next) {
      const value = headersOf(request)['user-agent'];
      Object.defineProperty(request, 'of', { value, configurable: true });
      next();
    },
    read: (request) => request.of,
  },
  'a getter': {
    ahead(request, next) {
      const value = headersOf(request)['user-agent'];
      Object.defineProperty(request, 'of', { get: () => value, configurable: true });
      next();
    },
    read: (request) => request.of,
  },
};

// First: what the routes of the other tests leave to be watched would take as many requests.
for (const framework of ['express', 'fastify'] as const) {
  describe(`On ${framework}, requests are watched`, () => {
    const starts = channel('http.server.request.start');

    it('at the start of a route, and not again by its hits', async (t) => {
      const { ask } = await serve(t, framework, {
        ahead: (_request, next) => next(),
        read: () => 1,
      });
      // The path of the tests before, of which one may still be waited for.
      for (let count = 0; count < 2_000 && starts.hasSubscribers; count += 1)
        await ask({}, `/${count % 20 || 'a'}`);
      assert.equal(starts.hasSubscribers, false);
      assert.equal((await ask({}, '/1')).isHit, true);
      assert.equal(starts.hasSubscribers, false);
    });

    it('before the first response of a route is kept, however late that comes', async (t) => {
      const other = await serve(t, framework, { ahead: (_request, next) => next(), read: () => 1 });
      const late = await serve(t, framework, ways['a WeakMap']!('shop-id'));
      for (let count = 0; count < 2_000 && starts.hasSubscribers; count += 1)
        await other.ask({}, `/${count % 20 || 'a'}`);
      assert.equal(starts.hasSubscribers, false);
      for (const shop of ['a', 'b', 'a', 'b'])
        assert.equal((await late.ask({ 'shop-id': shop })).value, shop);
      assert.equal((await late.ask({ 'shop-id': 'a' })).isHit, true);
    });
  });
}

for (const framework of ['express', 'fastify'] as const) {
  describe(`On ${framework}, a header that middleware reads ahead of the cache`, () => {
    for (const [way, pass] of Object.entries(ways)) {
      it(`is part of the key when its value comes by ${way}`, async (t) => {
        const { ask, lines } = await serve(t, framework, pass('shop-id'));
        for (const shop of ['a', 'b', 'a', 'b', 'c'])
          assert.equal((await ask({ 'shop-id': shop })).value, shop);
        assert.deepEqual(await ask({ 'shop-id': 'a' }), { value: 'a', isHit: true });
        assert.notEqual((await ask()).value, 'a');
        assert.equal(lines.length, 1);
        assert.match(
          lines[0]!,
          /(?:its handler|ahead\.test\.ts) reads the request header shop-id.*, which is part of the key/,
        );
      });
    }

    it('is one of the client’s language, too', async (t) => {
      const { ask } = await serve(t, framework, ways['a WeakMap']!('accept-language'));
      for (const language of ['en', 'fr', 'en'])
        assert.equal((await ask({ 'accept-language': language })).value, language);
    });

    it('does not count where logs and limits read it, and is listed', async (t) => {
      const { ask, lines, reads } = await serve(t, framework, {
        ahead(request, next) {
          void [headersOf(request)['user-agent'], headersOf(request)['x-request-id']];
          void { ...headersOf(request) };
          void (request.raw ?? request).socket.remoteAddress;
          next();
        },
        read: () => 1,
      });
      assert.equal((await ask({ 'user-agent': 'one' })).isHit, false);
      assert.equal((await ask({ 'user-agent': 'two' })).isHit, true);
      assert.deepEqual(lines, []);
      const file = reads()[0]!.split(' in ')[1]!;
      assert.match(file, /ahead\.test\.ts$/);
      assert.deepEqual(
        reads().filter((each) => !/the header (?!user-agent)/.test(each)),
        [
          `all headers, ahead of the cache in ${file}`,
          `the address of the client, ahead of the cache in ${file}`,
          `the header user-agent, ahead of the cache in ${file}`,
        ],
      );
    });

    for (const isRead of [true, false]) {
      it(`leaves the connection as it was, ${isRead ? 'its address read' : 'unread'}`, async (t) => {
        // V8 makes a table of an object whose accessors come and go, and every later read of it is slower.
        setFlagsFromString('--allow-natives-syntax');
        const isFast = new Function('object', 'return %HasFastProperties(object)');
        const haveSameMap = new Function('a', 'b', 'return %HaveSameMap(a, b)');
        const sockets = new Map<Socket, number>();
        const addresses = new Set<unknown>();
        const { ask, reads } = await serve(t, framework, {
          ahead(request, next) {
            const { socket } = request.raw ?? request;
            sockets.set(socket, (sockets.get(socket) ?? 0) + 1);
            if (isRead) void socket.remoteAddress;
            // Node still knows an address that was read before the connection ended.
            socket.once('close', () => addresses.add(socket.remoteAddress));
            next();
          },
          read: () => 1,
        });
        for (let i = 0; i < 8; i++) await ask({ connection: 'keep-alive' }, `/${i}`);
        assert.ok(Math.max(...sockets.values()) > 1, 'a connection was used again');
        for (let i = 0; i < 2; i++) await ask({ connection: 'close' }, `/other-${i}`);
        assert.equal(reads().join().includes('the address of the client'), isRead);
        for (const socket of sockets.keys()) {
          assert.equal(isFast(socket), true);
          const { _handle: handle } = socket as unknown as { _handle: object | null };
          assert.equal(handle !== null && Object.hasOwn(handle, 'getpeername'), false);
          assert.equal(handle === null || isFast(handle), true);
          assert.equal(Object.hasOwn(socket, '_peername'), isRead);
        }
        const [one, other] = [...sockets.keys()].slice(-2);
        assert.equal(haveSameMap(one, other), true);
        await until('an address', () => addresses.size > 0);
        assert.deepEqual([...addresses], [isRead ? '127.0.0.1' : undefined]);
      });
    }

    it('counts a header that is read by name behind its list of names', async (t) => {
      const { ask } = await serve(t, framework, {
        ahead(request, next) {
          void Object.keys(headersOf(request)).length;
          storage.run(headersOf(request)['shop-id'], next);
        },
        read: () => storage.getStore(),
      });
      for (const shop of ['a', 'b', 'a'])
        assert.equal((await ask({ 'shop-id': shop })).value, shop);
    });

    it('counts the address for the second reader, if the first is a logger', async (t) => {
      const { ask, reads } = await serve(t, framework, {
        ahead(request, next) {
          const { socket } = request.raw ?? request;
          unobserved(() => void socket.remoteAddress);
          void socket.remoteAddress;
          next();
        },
        read: () => 1,
      });
      await ask();
      assert.match(reads().join(), /the address of the client, ahead of the cache/);
    });

    it('does not count within unobserved(), or where the route says so', async (t) => {
      const ahead: Pass = (request, next) => (void headersOf(request)['shop-id'], next());
      const quiet: Pass = (request, next) => unobserved(() => ahead(request, next, undefined));
      const read = (): number => 1;
      for (const setting of [
        { ahead: quiet, read },
        { ahead, read, policy: { identify: 'public' } },
        { ahead, read, policy: { key: 'one' } },
        { ahead, read, defaults: { reads: 'ignored' } },
      ] satisfies Setting[]) {
        const { ask, lines } = await serve(t, framework, setting);
        await ask({ 'shop-id': 'a' });
        assert.equal((await ask({ 'shop-id': 'b' })).isHit, true);
        assert.deepEqual(lines, []);
      }
    });
  });

  describe(`On ${framework}, a response is not shared`, () => {
    for (const [kind, setting] of Object.entries(properties)) {
      it(`whose handler reads what middleware has put on the request: ${kind}`, async (t) => {
        const { ask, lines } = await serve(t, framework, setting);
        for (const agent of ['ann', 'bob', 'ann'])
          assert.deepEqual(await ask({ 'user-agent': agent }), { value: agent, isHit: false });
        assert.match(lines.join(), /which was set ahead of the cache/);
      });
    }
  });
}

describe('Reads ahead of the cache', () => {
  const byHandler = { name: 'handler', isObserver: false, isOfHandler: true };
  const byApp = { name: 'app.ts', isObserver: false, isOfHandler: false };
  const byTracer = { name: 'dd-trace', isObserver: true, isOfHandler: false };

  it('count by the strongest reader, whoever comes first', () => {
    for (const order of [
      [byTracer, byApp],
      [byApp, byTracer],
    ]) {
      const reads = new AheadReads();
      for (const reader of order) reads.record('shop-id', reader);
      assert.equal(reads.readers.get('shop-id'), byApp);
      assert.deepEqual(reads.headers, []);
    }
    const reads = new AheadReads();
    for (const reader of [byTracer, byApp, byHandler]) reads.record('shop-id', reader);
    assert.equal(reads.readers.get('shop-id'), byHandler);
    assert.deepEqual(reads.headers, ['shop-id']);
  });

  it('of two pipelined requests end one by one, and leave the socket as it was', async (t) => {
    const server = createServer();
    server.on('connection', (socket) => void socket.remoteAddress);
    server.listen(0, '127.0.0.1');
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    await once(server, 'listening');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const [request, response] = (await once(server, 'request')) as [
      IncomingMessage,
      ServerResponse,
    ];
    const { socket } = request;
    const [first, second] = [new AheadReads(), new AheadReads()];
    const watches = [watchPeer(socket as never, first), watchPeer(socket as never, second)];
    watches[1]!.delete(second);
    void socket.remoteAddress;
    assert.equal(first.wholesale.size, 1);
    assert.equal(second.wholesale.size, 0);
    watches[0]!.delete(first);
    // Routes of other tests may watch it, too.
    await once(response.end(), 'close');
    const { _peername: peer } = socket as unknown as { _peername: object };
    assert.equal(Object.getOwnPropertyDescriptor(peer, 'address')?.value, '127.0.0.1');
    client.destroy();
    socket.destroy();
  });
});

describe('A URL that something ahead of the router has rewritten', () => {
  const byAgent = (agent: string | undefined): string => (agent === 'phone' ? '/small' : '/large');
  const ask = async (port: number, agent: string): Promise<unknown> =>
    (
      await fetch(`http://127.0.0.1:${port}/page`, {
        headers: { 'user-agent': agent, connection: 'close' },
      })
    ).json();

  it('is part of the key, on express', async (t) => {
    const cache = new JsonCache({ logger: false });
    const app = express();
    app.use((request, _response, next) => {
      request.url = byAgent(request.headers['user-agent']);
      next();
    });
    const inner = express.Router();
    for (const name of ['/small', '/large'])
      inner.get(name, cached(cache), (_request, response) => void response.json({ name }));
    app.use(inner);
    const server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => void server.close());
    const { port } = server.address() as AddressInfo;
    for (const agent of ['phone', 'desk', 'phone', 'desk'])
      assert.deepEqual(await ask(port, agent), { name: byAgent(agent) });
    assert.equal(cache.stats.hits, 2);
  });

  it('is part of the key, on fastify', async (t) => {
    const cache = new JsonCache({ logger: false });
    const app = fastify({ rewriteUrl: ({ headers }) => byAgent(headers['user-agent']) });
    t.after(() => app.close());
    await app.register(fastifyCache, { cache });
    for (const name of ['/small', '/large'])
      app.get(name, { config: { cache: { at: 'hook' } } }, async () => ({ name }));
    await app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = app.server.address() as AddressInfo;
    for (const agent of ['phone', 'desk', 'phone', 'desk'])
      assert.deepEqual(await ask(port, agent), { name: byAgent(agent) });
    assert.equal(cache.stats.hits, 2);
  });

  it('is none below a router of Express, which takes its own path off', async (t) => {
    const cache = new JsonCache({ logger: false });
    const app = express();
    const inner = express.Router();
    inner.get('/', cached(cache), (_request, response) => void response.json({ name: '/' }));
    app.use('/page', inner);
    const server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => void server.close());
    const { port } = server.address() as AddressInfo;
    await ask(port, 'desk');
    await ask(port, 'phone');
    assert.equal(cache.stats.hits, 1);
  });
});

describe('A header that Connection names', () => {
  it('is not kept: it is of that connection', async (t) => {
    const cache = new JsonCache({ logger: false });
    const app = express();
    app.get('/page', cached(cache), (_request, response) => {
      response.set({ Connection: 'close, X-Once', 'X-Once': '1', 'X-Kept': '2' }).json({ a: 1 });
    });
    const server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const names: (string | null)[][] = [];
    for (let count = 0; count < 2; count += 1) {
      const { headers } = await fetch(`http://127.0.0.1:${port}/page`);
      names.push([headers.get('x-once'), headers.get('x-kept')]);
    }
    assert.equal(cache.stats.hits, 1);
    assert.deepEqual(names, [
      ['1', '2'],
      [null, '2'],
    ]);
  });
});
