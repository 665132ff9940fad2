import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import express from 'express';
import { fastify } from 'fastify';
import { cached } from '../src/adapters/express.ts';
import { fastifyCache } from '../src/adapters/fastify.ts';
import { JsonCache, unobserved, type CachePolicy, type RouteDefaults } from '../src/index.ts';

type Framework = 'express' | 'fastify';
type Read = (request: any) => unknown;

interface App {
  /** What `read` has returned for the response that a request with these headers gets, and whether it was made for it. */
  ask(
    headers?: Record<string, string>,
    query?: string,
  ): Promise<{ value: unknown; isHit: boolean }>;
  readonly lines: string[];
  /** Node's requests, as they are after their responses. */
  readonly requests: IncomingMessage[];
}

interface Setting {
  readonly policy?: CachePolicy<any>;
  readonly defaults?: RouteDefaults;
  /** Runs ahead of the cache. */
  readonly ahead?: (request: any, response: any) => void;
}

async function serve(
  t: TestContext,
  framework: Framework,
  read: Read,
  { policy = {}, defaults = {}, ahead = () => {} }: Setting = {},
): Promise<App> {
  const lines: string[] = [];
  const push = (line: string): void => void lines.push(line);
  const cache = new JsonCache({ logger: { log: push, warn: push } });
  const requests: IncomingMessage[] = [];
  let runs = 0;
  const make = (request: { raw?: IncomingMessage }): object => {
    requests.push(request.raw ?? (request as IncomingMessage));
    return { value: read(request), run: (runs += 1) };
  };
  let port: number;
  if (framework === 'express') {
    const app = express().set('trust proxy', true);
    app.use((request, response, next) => {
      ahead(request, response);
      next();
    });
    app.get('/', cached(cache, policy, { hosts: 'any', ...defaults }), (request, response) => {
      response.json(make(request as never));
    });
    const server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => void server.close());
    ({ port } = server.address() as AddressInfo);
  } else {
    const app = fastify({ trustProxy: true });
    t.after(() => app.close());
    app.addHook('onRequest', async (request, reply) => ahead(request, reply));
    await app.register(fastifyCache, { cache, hosts: 'any', ...defaults });
    app.get('/', { config: { cache: policy } }, (request, reply) => reply.send(make(request)));
    await app.listen({ port: 0, host: '127.0.0.1' });
    ({ port } = app.server.address() as AddressInfo);
  }
  return {
    lines,
    requests,
    async ask(headers = {}, query = '') {
      const before = runs;
      const response = await fetch(`http://127.0.0.1:${port}/${query}`, {
        headers: { connection: 'close', ...headers },
      });
      const { value } = (await response.json()) as { value: unknown };
      return { value, isHit: runs === before };
    },
  };
}

/** Whoever sends another header gets the response of his own; once it is known what counts, hits are hits. */
const byName: Readonly<Record<string, Read>> = {
  'request.headers.name': ({ headers }) => headers['tenant-id'],
  'a destructured header': ({ headers: { 'tenant-id': tenant } }) => tenant,
  'a header that is looked for with in': ({ headers }) =>
    'tenant-id' in headers && headers['tenant-id'],
  'Object.hasOwn': ({ headers }) => Object.hasOwn(headers, 'tenant-id') && headers['tenant-id'],
  'the headers of Node’s own request': (request) => (request.raw ?? request).headers['tenant-id'],
};

const atOnce: Readonly<Record<string, Read>> = {
  'a spread': ({ headers }) => ({ ...headers })['tenant-id'],
  'JSON.stringify': ({ headers }) => JSON.parse(JSON.stringify(headers))['tenant-id'],
  'Object.entries': ({ headers }) => Object.fromEntries(Object.entries(headers))['tenant-id'],
  'a loop': ({ headers }) => {
    for (const name in headers) if (name === 'tenant-id') return headers[name];
    return undefined;
  },
  rawHeaders: (request) => {
    const { rawHeaders } = (request.raw ?? request) as IncomingMessage;
    return rawHeaders[rawHeaders.indexOf('tenant-id') + 1];
  },
  headersDistinct: (request) => (request.raw ?? request).headersDistinct['tenant-id']?.[0],
};

for (const framework of ['express', 'fastify'] as const) {
  describe(`On ${framework}, a header that only the handler knows of`, () => {
    for (const [way, read] of Object.entries(byName)) {
      it(`is part of the key once it was read: ${way}`, async (t) => {
        const { ask, lines } = await serve(t, framework, read);
        for (const tenant of ['a', 'b', 'a', 'b', 'c'])
          assert.equal((await ask({ 'tenant-id': tenant })).value, tenant);
        assert.deepEqual(await ask({ 'tenant-id': 'a' }), { value: 'a', isHit: true });
        assert.deepEqual(await ask({ 'tenant-id': 'b' }), { value: 'b', isHit: true });
        assert.notEqual((await ask()).value, 'a');
        assert.deepEqual(lines, [
          'A response of GET / goes out uncached: its handler reads the request header tenant-id, which is part of the key from now on.',
        ]);
      });
    }

    for (const [way, read] of Object.entries(atOnce)) {
      it(`keeps the response to its own request where all are read at once: ${way}`, async (t) => {
        const { ask, lines } = await serve(t, framework, read);
        for (const tenant of ['a', 'b', 'a'])
          assert.deepEqual(await ask({ 'tenant-id': tenant }), { value: tenant, isHit: false });
        assert.equal(lines.length, 1);
        assert.match(lines[0]!, /reads all request headers at once/);
      });
    }

    it('is read by what negotiates for the handler', async (t) => {
      const read: Read = (request) =>
        request.acceptsLanguages?.('en', 'fr') ?? request.headers['accept-language'];
      const { ask } = await serve(t, framework, read);
      for (const language of ['en', 'fr', 'en', 'fr'])
        assert.equal((await ask({ 'accept-language': language })).value, language);
      assert.ok((await ask({ 'accept-language': 'fr' })).isHit);
    });
  });

  describe(`On ${framework}, a response is not shared`, () => {
    it('whose handler reads the address of the client', async (t) => {
      for (const read of [
        (request: any) => request.ip,
        (request: any) => (request.raw ?? request).socket.remoteAddress,
      ]) {
        const { ask, lines } = await serve(t, framework, read);
        assert.deepEqual(await ask(), { value: '127.0.0.1', isHit: false });
        assert.deepEqual(await ask(), { value: '127.0.0.1', isHit: false });
        assert.match(lines.join(), /reads the address of the client/);
      }
    });

    it('whose handler reads what something ahead of the cache has found out', async (t) => {
      const { ask, lines } = await serve(t, framework, ({ member }) => member.name, {
        ahead: (request) => void (request.member = { name: request.headers['x-session-token'] }),
      });
      for (const token of ['ann', 'bob', 'ann'])
        assert.deepEqual(await ask({ 'x-session-token': token }), { value: token, isHit: false });
      assert.match(lines.join(), /reads request\.member, which was set ahead of the cache/);
    });

    it('whose handler reads a property that only some requests have, after many without it', async (t) => {
      const read: Read = ({ member }) => member?.name ?? 'none';
      const { ask } = await serve(t, framework, read, {
        ahead: (request) => {
          const token: unknown = request.headers['x-session-token'];
          if (token !== undefined) request.member = { name: token };
        },
      });
      for (let n = 0; n < 50; n += 1) await ask({}, `?n=${n}`);
      for (const token of ['ann', 'bob', 'ann'])
        assert.deepEqual(await ask({ 'x-session-token': token }), { value: token, isHit: false });
    });

    it('but with the same Content-Type, whose handler reads that, which needs no body', async (t) => {
      const { ask } = await serve(t, framework, ({ headers }) => headers['content-type'] ?? 'none');
      for (const type of ['text/a', 'text/b', 'text/a', 'text/b'])
        assert.equal((await ask({ 'content-type': type })).value, type);
      assert.equal((await ask()).value, 'none');
      assert.ok((await ask({ 'content-type': 'text/a' })).isHit);
    });

    it('but with the same Forwarded, whose handler reads that', async (t) => {
      const { ask } = await serve(t, framework, ({ headers }) => headers.forwarded);
      for (const forwarded of ['for=10.0.0.1', 'for=10.0.0.2', 'for=10.0.0.1', 'for=10.0.0.2'])
        assert.equal((await ask({ forwarded })).value, forwarded);
      assert.ok((await ask({ forwarded: 'for=10.0.0.1' })).isHit);
    });

    it('whose handler calls a function that something ahead of the cache has set', async (t) => {
      const ahead = (request: any): void => {
        const address = request.ip;
        request.region = () => `region of ${address}`;
      };
      const { ask, lines } = await serve(t, framework, (request) => request.region(), { ahead });
      for (const address of ['10.0.0.1', '10.0.0.2', '10.0.0.1'])
        assert.deepEqual(await ask({ 'x-forwarded-for': address }), {
          value: `region of ${address}`,
          isHit: false,
        });
      assert.match(lines.join(), /reads request\.region, which was set ahead of the cache/);
    });

    it('whose handler reads a cookie, although cookies are to be ignored', async (t) => {
      const parse = (request: any): void => {
        request.cookies = Object.fromEntries([(request.headers.cookie ?? 'a=').split('=')]);
      };
      const setting: Setting = { ahead: parse, policy: { cookies: 'ignore' } };
      const readers: Read[] = [({ cookies }) => cookies.theme, ({ headers }) => headers.cookie];
      for (const read of readers) {
        const { ask, lines } = await serve(t, framework, read, setting);
        for (const theme of ['dark', 'light'])
          assert.match(String((await ask({ cookie: `theme=${theme}` })).value), new RegExp(theme));
        assert.match(lines.join(), /reads (?:the cookie theme|all cookies): name it with identify/);
      }
      const other = await serve(t, framework, () => 'same', setting);
      await other.ask({ cookie: 'theme=dark' });
      assert.ok((await other.ask({ cookie: 'theme=light' })).isHit);
    });
  });

  describe(`On ${framework}, what only later requests read counts`, () => {
    const isLater = (request: any): boolean => Number(request.query.n) >= 20;
    const cookie = (request: any): unknown => request.cookies.theme;
    const parse = (request: any): void => {
      request.cookies = Object.fromEntries([(request.headers.cookie ?? 'a=').split('=')]);
    };
    const setting: Setting = { ahead: parse, policy: { cookies: 'ignore' } };
    for (const [what, read, name] of [
      ['a header', ({ headers }: any) => headers['tenant-id'], 'tenant-id'],
      ['a cookie', cookie, 'cookie'],
      ['an address', ({ ip }: any) => ip, 'x-forwarded-for'],
      [
        'a header beside one that is part of the key',
        ({ headers }: any) => headers['accept-language'] && headers['tenant-id'],
        'tenant-id',
      ],
    ] as const)
      it(`${what}, of which those that were watched have shown nothing`, async (t) => {
        const late: Read = (request) => (isLater(request) ? read(request) : 1);
        const { ask } = await serve(t, framework, late, setting);
        const values = what === 'a cookie' ? ['theme=a', 'theme=b'] : ['10.0.0.1', '10.0.0.2'];
        for (let n = 0; n < 20; n += 1) await ask({}, `?n=${n}`);
        assert.equal((await ask({}, '?n=19')).isHit, true);
        for (let round = 0; round < 3; round += 1)
          for (const value of values) {
            const got = await ask({ [name]: value }, '?n=20');
            assert.equal(got.value, value.replace('theme=', ''));
          }
      });

    it('the protocol behind a trusted proxy, which is kept from the second response on', async (t) => {
      const late: Read = (request) => (isLater(request) ? request.protocol : 1);
      // With 'any' no response may depend on it.
      const defaults = { hosts: undefined } as unknown as RouteDefaults;
      const { ask, lines } = await serve(t, framework, late, { defaults });
      for (let n = 0; n < 20; n += 1) await ask({}, `?n=${n}`);
      for (const protocol of ['https', 'http', 'https', 'http', 'https'])
        assert.equal((await ask({ 'x-forwarded-proto': protocol }, '?n=20')).value, protocol);
      assert.equal((await ask({ 'x-forwarded-proto': 'https' }, '?n=20')).isHit, true);
      assert.deepEqual(lines, []);
    });
  });

  describe(`On ${framework}, what is read changes nothing`, () => {
    const isCached = async (t: TestContext, read: Read, setting?: Setting): Promise<string[]> => {
      const { ask, lines } = await serve(t, framework, read, setting);
      assert.equal((await ask({ 'tenant-id': 'a' })).isHit, false);
      assert.equal((await ask({ 'tenant-id': 'b' })).isHit, true);
      return lines;
    };

    it('where it is in the key anyway, names one request, or is never there', async (t) => {
      const names = ['host', 'x-forwarded-proto', 'x-request-id', 'traceparent', 'authorization'];
      for (const name of names)
        assert.deepEqual(await isCached(t, ({ headers }) => (headers[name], 1)), []);
      assert.deepEqual(await isCached(t, ({ headers }) => (headers.cookie, 1)), []);
    });

    it('where it is a method that Passport gives each request', async (t) => {
      const ahead = (request: any): void => {
        request.isAuthenticated = () => false;
      };
      const read: Read = (request) => request.isAuthenticated();
      assert.deepEqual(await isCached(t, read, { ahead }), []);
    });

    it('where links are made of the host and the protocol, which proxies may name', async (t) => {
      const read: Read = (request) => `${request.protocol}://${request.host ?? request.hostname}`;
      assert.deepEqual(await isCached(t, read), []);
    });

    it('where the route says whom its responses are for, or that reads do not matter', async (t) => {
      const read: Read = ({ headers }) => headers['tenant-id'] !== undefined;
      for (const policy of [
        { identify: 'public' },
        { key: 'one' },
        { reads: 'ignored' },
      ] satisfies CachePolicy<any>[])
        assert.deepEqual(await isCached(t, read, { policy }), []);
      assert.deepEqual(await isCached(t, read, { defaults: { reads: 'ignored' } }), []);
    });

    it('where a logger reads it, within unobserved()', async (t) => {
      const logged: string[] = [];
      const read: Read = (request) => {
        unobserved(() => logged.push(JSON.stringify(request.headers) + request.ip));
        return 1;
      };
      assert.deepEqual(await isCached(t, read), []);
      assert.match(logged[0]!, /tenant-id.*127\.0\.0\.1/);
    });

    it('of the request itself, which is given back as it was', async (t) => {
      const { ask, requests } = await serve(t, framework, (request) => request.ip);
      await ask();
      const [request] = requests;
      for (const name of ['headers', 'rawHeaders', 'socket', 'headersDistinct'])
        assert.equal(Object.getOwnPropertyDescriptor(request, name)?.get, undefined, name);
      assert.equal(typeof request?.headers.host, 'string');
    });

    it('of what the handler sets', async (t) => {
      const read: Read = (request) => {
        const raw = request.raw ?? request;
        raw.headers = { own: 'yes' };
        return raw.headers.own;
      };
      const { ask, requests } = await serve(t, framework, read);
      assert.equal((await ask()).value, 'yes');
      assert.deepEqual(requests[0]?.headers, { own: 'yes' });
    });
  });
}
