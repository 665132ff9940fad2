import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { after, describe, it, type TestContext } from 'node:test';
import { startRedis } from '@redline/services';
import { fastify } from 'fastify';
import { Redis } from 'ioredis';
import { fastifyCache, type FastifyCachePolicy } from '../src/adapters/fastify.ts';
import {
  JsonCache,
  memoryStore,
  redisStore,
  tieredStore,
  type JsonStore,
  type RouteDefaults,
} from '../src/index.ts';
import type { EngineAnswer, EngineAnswers, EngineRequest } from '../src/route/engine-store.ts';
import { until } from './until.ts';

/* Of an app whose hosts share their responses. */
const productKey = '3:url-----0:11:/products/7';

/** Stands for the engine: it keeps what is offered twice with the same bytes, and answers nothing. */
class FakeAnswers implements EngineAnswers {
  readonly kept = new Map<string, EngineAnswer>();
  readonly offers: { request: EngineRequest; answer: EngineAnswer; outcome: string }[] = [];
  lines: EngineAnswers['lines'] = undefined;
  #clock = 0;
  readonly #drops = new Map<string, number>();
  readonly #seen = new Map<string, string>();

  ticket(): number {
    return this.#clock;
  }

  offer(request: EngineRequest, answer: EngineAnswer, ticket: number): string {
    const outcome = this.#outcome(request, answer, ticket);
    this.offers.push({ request, answer, outcome });
    if (outcome === 'kept') this.kept.set(request.url!, answer);
    return outcome;
  }

  dropTags(tags: readonly string[]): void {
    this.#clock += 1;
    for (const tag of tags) this.#drops.set(tag, this.#clock);
    for (const [url, { tags: own }] of this.kept)
      if (own.some((tag) => tags.includes(tag))) this.kept.delete(url);
  }

  #outcome({ url }: EngineRequest, answer: EngineAnswer, ticket: number): string {
    if (answer.tags.some((tag) => (this.#drops.get(tag) ?? 0) > ticket)) return 'dropped';
    const bytes = JSON.stringify([answer.status, answer.headers, String(answer.body)]);
    const last = this.#seen.get(url!);
    this.#seen.set(url!, bytes);
    return last === undefined ? 'first' : last === bytes ? 'kept' : 'changes';
  }
}

interface Started {
  readonly answers: FakeAnswers;
  readonly cache: JsonCache;
  readonly lines: string[];
  get(path: string, headers?: Record<string, string>, method?: string): Promise<string>;
}

async function start(
  t: TestContext,
  policy: FastifyCachePolicy,
  options: {
    store?: JsonStore;
    defaults?: RouteDefaults;
    prepare?(answers: FakeAnswers): void;
    onSend?: () => [string, string];
  } = {},
): Promise<Started> {
  const lines: string[] = [];
  const push = (line: string): void => void lines.push(line);
  const { store = memoryStore(), defaults = { hosts: 'any' }, onSend } = options;
  const cache = new JsonCache({ store, timeoutMs: 30_000, logger: { log: push, warn: push } });
  const app = fastify();
  const answers = new FakeAnswers();
  options.prepare?.(answers);
  Object.assign(app.server, { [Symbol.for('redline.responseStore')]: answers });
  await app.register(fastifyCache, { cache, ...defaults });
  if (onSend !== undefined)
    app.addHook('onSend', async (_request, reply) => void reply.header(...onSend()));
  app.get(
    '/products/:id',
    { config: { cache: { at: 'engine', ...policy } } },
    ({ params }, reply) => {
      reply.header('X-Total', 3);
      return params;
    },
  );
  t.after(() => app.close());
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  return {
    answers,
    cache,
    lines,
    async get(path, headers = {}, method = 'GET') {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers, method });
      return response.text();
    },
  };
}

const started = await startRedis();
const skip = started === undefined && 'there is no redis-server on PATH';
after(() => started?.stop());

describe('The store of the engine', () => {
  it('is offered what the hook sends, to the byte, with all it depends on', async (t) => {
    const { answers, get, cache, lines } = await start(t, {
      ttl: 60_000,
      stale: 5_000,
      identify: 'public',
      vary: ['Accept-Language'],
      tags: ({ params }) => [`product:${params.id}`],
    });
    assert.deepEqual(lines, ['Hits of GET /products/:id are answered by the engine.']);
    for (let i = 0; i < 3; i++) await get('/products/7?a=1');
    assert.deepEqual(
      answers.offers.map(({ outcome }) => outcome),
      ['first', 'kept'],
    );
    const { request, answer } = answers.offers[1]!;
    assert.deepEqual([request.method, request.url], ['GET', '/products/7?a=1']);
    assert.deepEqual(answer.headers, [
      ['x-total', '3'],
      ['content-type', 'application/json; charset=utf-8'],
      ['content-length', '10'],
    ]);
    assert.deepEqual(
      [answer.status, answer.body, answer.staleMs, answer.identify, answer.vary, answer.line],
      [200, '{"id":"7"}', 5_000, 'public', ['accept-language'], 0],
    );
    assert.ok(answer.freshMs > 50_000 && answer.freshMs <= 60_000);
    assert.equal(answer.from?.req.url, '/products/7?a=1');
    assert.equal(cache.stats.engineKept, 1);
  });

  it('is told of the host, of what cookies mean, and whether somebody judges If-None-Match', async (t) => {
    const { answers, get } = await start(t, { cookies: 'ignore' }, { defaults: {} });
    for (let i = 0; i < 2; i++) await get('/products/7');
    const { answer } = answers.offers[0]!;
    assert.deepEqual(answer.vary, [
      'host',
      'x-forwarded-host',
      'x-forwarded-proto',
      'x-forwarded-port',
      'x-forwarded-prefix',
      'forwarded',
    ]);
    assert.equal(answer.cookies, 'ignore');
    const onSend = (): [string, string] => ['etag', '"of a plugin"'];
    for (const [headers, vary] of [
      [[], ['if-none-match']],
      [['etag'], []],
    ] as const) {
      const app = await start(t, {}, { defaults: { hosts: 'any', headers }, onSend });
      for (let i = 0; i < 2; i++) await app.get('/products/7');
      assert.deepEqual(app.answers.offers[0]!.answer.vary, vary);
    }
  });

  it('is not offered what shows a caller', async (t) => {
    const { answers, get } = await start(t, {});
    for (let i = 0; i < 2; i++) await get('/products/7');
    await get('/products/7', { 'x-api-key': 'me' });
    assert.equal(answers.offers.length, 1);
  });

  it('is not offered what another made, what is old, HEAD, a 304, nor what names its caller', async (t) => {
    const { answers, get } = await start(t, {}, { defaults: { hosts: 'any', headers: ['etag'] } });
    await get('/products/7');
    await get('/products/7', {}, 'HEAD');
    await get('/products/7', { 'if-none-match': '*' });
    await get('/products/7', { authorization: 'me' });
    assert.equal(answers.offers.length, 0);
    await get('/products/7');
    assert.equal(answers.offers.length, 1);
  });

  for (const [name, drop] of [
    ['invalidate', (cache) => cache.invalidate('product:7')],
    ['delete', (cache) => cache.delete(productKey)],
    ['clear', (cache) => cache.clear()],
  ] as [string, (cache: JsonCache) => Promise<void>][]) {
    it(`hears ${name} before it resolves, and refuses what was read before`, async (t) => {
      const { answers, get, cache } = await start(t, {
        tags: ({ params }) => [`product:${params.id}`],
      });
      for (let i = 0; i < 3; i++) for (const id of ['7', '8']) await get(`/products/${id}`);
      assert.deepEqual([...answers.kept.keys()], ['/products/7', '/products/8']);
      const { answer, request } = answers.offers.find(
        ({ request: { url } }) => url === '/products/7',
      )!;
      const ticket = answers.ticket();
      await drop(cache);
      assert.deepEqual([...answers.kept.keys()], name === 'clear' ? [] : ['/products/8']);
      assert.equal(answers.offer(request, answer, ticket), 'dropped');
    });
  }

  it('is not filled where the line of a hit cannot be written there', async (t) => {
    const { answers, get, lines } = await start(
      t,
      {},
      { prepare: (made) => void (made.lines = { obstacle: 'the fields are full', line: 0 }) },
    );
    for (let i = 0; i < 3; i++) await get('/products/7');
    assert.equal(answers.offers.length, 0);
    assert.deepEqual(lines, [
      'Hits of GET /products/:id are answered by the hook, not by the engine: the fields are full.',
    ]);
  });

  it('is offered the number of the line', async (t) => {
    const lines = { obstacle: undefined, line: 4 };
    const { answers, get } = await start(t, {}, { prepare: (made) => void (made.lines = lines) });
    for (let i = 0; i < 2; i++) await get('/products/7');
    assert.equal(answers.offers[0]!.answer.line, 4);
  });

  it('never gets a route whose responses differ each time, which is said once', async (t) => {
    let nonce = 0;
    const onSend = (): [string, string] => ['x-nonce', String((nonce += 1))];
    const { answers, get, lines } = await start(t, {}, { onSend });
    for (let i = 0; i < 40; i++) await get('/products/7');
    assert.equal(answers.kept.size, 0);
    assert.deepEqual(lines.slice(1), [
      'The engine does not keep the responses of GET /products/:id, the hook answers them: they differ each time, as with a nonce, a request id or a rate limit.',
    ]);
  });

  it('does not get a route of which it cannot know enough: the hook answers it', async (t) => {
    const cases: [FastifyCachePolicy, RouteDefaults, JsonStore, RegExp][] = [
      [{ identify: () => 'me' }, {}, memoryStore(), /identify is a function/],
      [{ key: () => 'a' }, {}, memoryStore(), /key is a function/],
      [{ early: true }, {}, memoryStore(), /early renewal/],
      [{}, { headers: ['age'] }, memoryStore(), /the Age header/],
      [{}, {}, { get: () => null, set: () => {}, delete: () => {} }, /the store does not tell/],
    ];
    for (const [policy, defaults, store, reason] of cases) {
      const { answers, get, lines } = await start(t, policy, { defaults, store });
      for (let i = 0; i < 3; i++) await get('/products/7');
      assert.match(lines[0]!, /^Hits of GET \/products\/:id are answered by the hook, not by the/);
      assert.match(lines[0]!, reason);
      assert.equal(answers.offers.length, 0);
    }
  });

  it('does not get a route with hooks around it, unless they may be left out', async () => {
    const placed = async (guards: 'skipped' | undefined): Promise<string> => {
      const lines: string[] = [];
      const push = (line: string): void => void lines.push(line);
      const app = fastify();
      Object.assign(app.server, { [Symbol.for('redline.responseStore')]: new FakeAnswers() });
      await app.register(fastifyCache, {
        cache: new JsonCache({ logger: { log: push, warn: push } }),
      });
      app.addHook('onRequest', async function authenticate() {});
      app.addHook('onResponse', async function measure() {});
      const policy: FastifyCachePolicy = guards === undefined ? {} : { guards };
      app.get('/', { config: { cache: { at: 'engine', ...policy } } }, async () => ({}));
      await app.ready();
      await app.close();
      return lines[0]!;
    };
    assert.equal(
      await placed(undefined),
      "Hits of GET / are answered by the hook, not by the engine: authenticate, measure would not run; guards: 'skipped' says that hits do without.",
    );
    assert.equal(await placed('skipped'), 'Hits of GET / are answered by the engine.');
  });

  it('does not get a route of which Fastify itself logs the requests', async () => {
    const lines: string[] = [];
    const app = fastify({ logger: { stream: { write: (line: string) => void lines.push(line) } } });
    Object.assign(app.server, { [Symbol.for('redline.responseStore')]: new FakeAnswers() });
    await app.register(fastifyCache, { cache: new JsonCache() });
    app.get('/', { config: { cache: { at: 'engine' } } }, async () => ({}));
    await app.ready();
    await app.close();
    assert.match(lines[0]!, /not by the engine: Fastify writes a line for each request/);
  });
});

describe('The store of the engine, before Redis', { skip }, () => {
  const connect = (t: TestContext): Redis => {
    const client = new Redis(started!.url);
    client.on('error', () => {});
    t.after(() => void client.disconnect());
    return client;
  };

  it('needs a store that is told of changes', async (t) => {
    const { lines } = await start(t, {}, { store: redisStore(connect(t)) });
    assert.match(lines[0]!, /the store does not tell what other processes change/);
  });

  it('hears what other processes drop, and that the connection is lost', async (t) => {
    const client = connect(t);
    const keyPrefix = `engine-${process.pid}:`;
    const store = tieredStore(client, { keyPrefix });
    await until('a connection for invalidations', () => store.isCoherent);
    const { answers, get, cache } = await start(
      t,
      { tags: ({ params }) => [`product:${params.id}`] },
      { store },
    );
    const other = new JsonCache({
      store: tieredStore(connect(t), { keyPrefix }),
      logger: false,
      timeoutMs: 30_000,
    });
    const fill = async (): Promise<void> => {
      for (let i = 0; answers.kept.size === 0; i++) {
        assert.ok(i < 20);
        await get('/products/7');
      }
    };
    await fill();
    await other.invalidate('product:7');
    await until('the push', () => answers.kept.size === 0);
    await fill();
    await other.delete(productKey);
    await until('the push', () => answers.kept.size === 0);
    await fill();
    await client.flushall();
    await until('the push', () => answers.kept.size === 0);
    await fill();
    await client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await until('the loss', () => answers.kept.size === 0);
    // Until it is there again, nothing is offered: nobody would say what changes.
    const { offers } = answers;
    if (!store.isCoherent) {
      const before = offers.length;
      await get('/products/7').catch(() => {});
      if (!store.isCoherent) assert.equal(offers.length, before);
    }
    await until('a connection for invalidations', () => store.isCoherent);
    await fill();
    other.close();
    cache.close();
  });
});
