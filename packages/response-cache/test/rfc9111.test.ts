// What RFC 9111 asks of a cache, as far as docs/design/response-cache.md says that it applies inside of a server, and what is
// listed there as different.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { fastify, type FastifyInstance, type InjectOptions } from 'fastify';
import { fastifyCache } from '../src/adapters/fastify.ts';
import { JsonCache, type CacheHeader, type CachePolicy } from '../src/index.ts';

interface Setting {
  readonly policy?: CachePolicy<any>;
  readonly headers?: readonly CacheHeader[];
  /** Of each response. */
  readonly response?: Record<string, string>;
}

async function serve(t: TestContext, setting: Setting = {}): Promise<FastifyInstance> {
  const { policy = {}, headers = [], response = {} } = setting;
  const app = fastify();
  t.after(() => app.close());
  await app.register(fastifyCache, { cache: new JsonCache({ logger: false }), headers });
  let runs = 0;
  const config = { cache: { ttl: 60_000, ...policy } };
  app.get('/', { config }, async (_request, reply) => {
    reply.headers(response);
    return { run: (runs += 1) };
  });
  app.route({ method: ['POST', 'PUT', 'DELETE'], url: '/', handler: async () => ({ ok: true }) });
  return app;
}

async function run(app: FastifyInstance, how: InjectOptions = {}): Promise<number> {
  const response = await app.inject({ url: '/', ...how });
  return (response.json() as { run: number }).run;
}

describe('A cache inside of the server', () => {
  it('leaves freshness to the ttl of the route: max-age is for those who are asked next', async (t) => {
    for (const control of [
      'max-age=1',
      'public, s-maxage=1',
      'max-age=31536000',
      'must-revalidate',
    ]) {
      const app = await serve(t, { response: { 'cache-control': control } });
      assert.deepEqual([await run(app), await run(app)], [1, 1], control);
      const { headers } = await app.inject('/');
      assert.equal(headers['cache-control'], control);
    }
  });

  it('lets no client make a handler run: directives of requests do not count', async (t) => {
    const app = await serve(t);
    await run(app);
    for (const control of ['no-cache', 'no-store', 'max-age=0', 'min-fresh=100', 'only-if-cached'])
      assert.equal(await run(app, { headers: { 'cache-control': control } }), 1, control);
    assert.equal(await run(app, { headers: { pragma: 'no-cache' } }), 1);
  });

  it('leaves it to the app what a write makes outdated', async (t) => {
    const app = await serve(t);
    await run(app);
    for (const method of ['POST', 'PUT', 'DELETE'] as const) {
      assert.equal((await app.inject({ method, url: '/' })).statusCode, 200);
      assert.equal(await run(app), 1, method);
    }
  });

  it('keeps nothing for a request with Authorization, whatever its response allows', async (t) => {
    for (const control of ['public', 's-maxage=60', 'must-revalidate']) {
      const app = await serve(t, { response: { 'cache-control': control } });
      const headers = { authorization: 'Bearer a' };
      assert.notEqual(await run(app, { headers }), await run(app, { headers }), control);
    }
  });

  it('keeps no header of a single connection', async (t) => {
    const names = [
      'proxy-authenticate',
      'proxy-authentication-info',
      'proxy-authorization',
      'proxy-connection',
      'keep-alive',
      'te',
      'upgrade',
    ];
    const response = Object.fromEntries([...names, 'x-kept'].map((name) => [name, 'a']));
    const app = await serve(t, { response });
    const sent = [await app.inject('/'), await app.inject('/')].map(({ headers }) =>
      [...names, 'x-kept'].filter((name) => headers[name] === 'a'),
    );
    assert.deepEqual(sent, [[...names, 'x-kept'], ['x-kept']]);
    assert.equal(await run(app), 1);
  });

  it('sends the whole response for a part of it', async (t) => {
    const app = await serve(t);
    await run(app);
    const response = await app.inject({ url: '/', headers: { range: 'bytes=0-1' } });
    assert.deepEqual([response.statusCode, response.body], [200, '{"run":1}']);
  });

  it('says the age of a hit, and nothing with what was just made', async (t) => {
    const app = await serve(t, { headers: ['age', 'etag'] });
    assert.equal((await app.inject('/')).headers.age, undefined);
    const hit = await app.inject('/');
    assert.match(String(hit.headers.age), /^\d+$/);
    const again = { headers: { 'if-none-match': String(hit.headers.etag) } };
    const revalidated = await app.inject({ url: '/', ...again });
    assert.deepEqual([revalidated.statusCode, revalidated.body], [304, '']);
  });

  it('answers HEAD of what it has for GET, and OPTIONS not at all', async (t) => {
    const app = await serve(t);
    await run(app);
    const head = await app.inject({ method: 'HEAD', url: '/' });
    assert.deepEqual([head.statusCode, head.body], [200, '']);
    assert.equal(await run(app), 1);
    assert.equal((await app.inject({ method: 'OPTIONS', url: '/' })).statusCode, 404);
  });
});
