import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import express from 'express';
import { fastify } from 'fastify';
import { cached } from '../src/adapters/express.ts';
import { fastifyCache } from '../src/adapters/fastify.ts';
import { JsonCache, memoryStore, type CachePolicy, type JsonStore } from '../src/index.ts';
import { isHead } from '../src/route/kept-head.ts';
import { ask } from './ask.ts';

/* Of the same length: cuts are found by the length of a value. */
const damages: Readonly<Record<string, readonly [string, string]>> = {
  'that is not JSON': ['"status":203', '"status"x203'],
  'with a status that is none': ['"status":203', '"status":903'],
  'with a header that cannot be sent': ['"x-kept":"yes"', '"x kept":"yes"'],
  'with a value that cannot be sent': ['"x-kept":"yes"', '"x-kept":"\\nx"'],
  'with headers that are a text': ['"headers":{"x-kept":"yes"}', `"headers":"${'x'.repeat(14)}"`],
};

interface Damaging extends JsonStore {
  isOff: boolean;
}

function damaged([from, to]: readonly [string, string]): Damaging {
  const store = memoryStore();
  const damaging: Damaging = {
    isOff: false,
    get: (key) => store.get(key),
    set: (key, raw, ttl) => store.set(key, damaging.isOff ? raw : raw.replace(from, to), ttl),
    delete: (key) => store.delete(key),
  };
  return damaging;
}

type Framework = 'express' | 'fastify';

async function serve(
  t: TestContext,
  framework: Framework,
  store: JsonStore,
  policy: CachePolicy<any>,
): Promise<number> {
  const cache = new JsonCache({ store, ttl: 60_000, logger: false });
  if (framework === 'express') {
    const app = express();
    app.get('/', cached(cache, policy), (_request, response) => {
      response.status(203).set('x-kept', 'yes').json({ a: 1 });
    });
    const server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => void server.close());
    return (server.address() as AddressInfo).port;
  }
  const app = fastify();
  t.after(() => app.close());
  await app.register(fastifyCache, { cache });
  app.get('/', { config: { cache: policy } }, (_request, reply) => {
    return reply.status(203).header('x-kept', 'yes').send({ a: 1 });
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  return (app.server.address() as AddressInfo).port;
}

for (const framework of ['express', 'fastify'] as const)
  for (const at of ['handler', 'hook'] as const)
    describe(`A kept head, damaged in the store, on ${framework} at the ${at}`, () => {
      for (const [what, damage] of Object.entries(damages))
        it(`${what}, is made again`, async (t) => {
          const store = damaged(damage);
          const port = await serve(t, framework, store, { at });
          for (let count = 0; count < 3; count += 1) {
            store.isOff = count === 1;
            const { status, text, headers } = await ask(port, '/');
            assert.deepEqual([status, text, headers['x-kept']], [203, '{"a":1}', 'yes']);
          }
        });
    });

describe('A head', () => {
  it('that was taken of a response is whole', () => {
    const heads = [
      '{"status":404}',
      '{"headers":{"vary":"a","x":["1","2"],"n":1},"removed":["etag"]}',
    ];
    for (const head of heads) assert.ok(isHead(head), head);
  });

  it('that is something else is not', () => {
    for (const head of [
      '',
      'null',
      '[',
      '"a"x',
      '{"status":"404"}',
      '{"removed":5}',
      '{"removed":["a b"]}',
    ])
      assert.equal(isHead(head), false, head);
  });
});
